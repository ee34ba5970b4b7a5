/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ROW_EQUIVALENCE_H
#define ROW_EQUIVALENCE_H

/* Says a line for each row operator; 1 when a way gives other codes than plain C. */
int check_rows(void);

#endif
