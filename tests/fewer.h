/* Sizes of what a test does: whole, or smaller under AddressSanitizer, where the same code runs several times slower. Faults
 * show at the smaller size too; what is learned or found is judged in the other builds. */
#ifndef INVIT_TESTS_FEWER_H
#define INVIT_TESTS_FEWER_H

#ifdef __SANITIZE_ADDRESS__
#define FEWER(whole, sanitized) (sanitized)
#else
#define FEWER(whole, sanitized) (whole)
#endif

#endif
