/* SPDX-License-Identifier: Apache-2.0 */
/* The one thing that a platform provides beside starting main() and taking its exit status. */
#ifndef SAY_H
#define SAY_H

/* Text for whoever runs the program. */
void say(const char *text);

#endif
