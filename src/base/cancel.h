/* Has the caller asked to stop? The flag belongs to the caller, who sets it from a signal handler or another thread. */
#ifndef INVIT_BASE_CANCEL_H
#define INVIT_BASE_CANCEL_H

#include "invit.h"

static inline bool inv_flag_set(const volatile int *flag)
{
    return flag && __atomic_load_n(flag, __ATOMIC_RELAXED) != 0;
}

static inline void inv_set_flag(volatile int *flag)
{
    __atomic_store_n(flag, 1, __ATOMIC_RELAXED);
}

/* NULL: there is nobody who could ask. */
static inline const volatile int *inv_cancel_flag(const invit_control *control)
{
    return control ? control->cancel : NULL;
}

static inline bool inv_cancelled(const invit_control *control)
{
    return inv_flag_set(inv_cancel_flag(control));
}

#endif
