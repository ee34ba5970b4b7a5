/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a command has to say beside its result: a line "pwlc fit: note: ..." each on standard error, or a list for who
 * reads the result as JSON. */
#ifndef PWLC_NOTE_H
#define PWLC_NOTE_H

/* One note of a command, "fit", from the main thread. */
void note(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* From now on notes are kept instead of printed. */
void notes_keep(void);

/* The kept note of a number, from 0 on; null after the last. */
const char *notes_kept(int number);

#endif
