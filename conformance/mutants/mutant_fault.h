/* SPDX-License-Identifier: Apache-2.0
 *
 * Faults on demand (keyway.test/1) over the cpu plugin, for mutants that bring them about wrongly.
 */
#ifndef KEYWAY_MUTANT_FAULT_H
#define KEYWAY_MUTANT_FAULT_H

#include "mutant.h"

/* One defect each. */
typedef struct kw_mutant_faults {
  bool stays;         /* what fails once fails from then on */
  bool off_by_one;    /* the launch after the n-th fails */
  bool lets_go;       /* work that is to be held goes on */
  bool lost_stays;    /* a device that is lost is not closed, and so not opened again */
  bool takes_unknown; /* an order to bring about a fault that nobody knows is taken for one */
  bool counts_on;     /* a new order counts on from what was left of the one before */
  /* A launch that fails late, or loses the device: */
  bool late_is_swallowed;  /* nobody is told */
  bool late_is_lost;       /* the device is said to be lost when it is not */
  bool lost_is_late;       /* the launch is said to have failed when the device is lost */
  bool blames_first;       /* the stream that is blamed is the one that was created first */
  bool blames_launch;      /* the launch that is blamed is the one before */
  bool blames_newest;      /* it is told when somebody waits, of the launch that was enqueued last by then */
  bool cuts_token;         /* the stream that is blamed is the one whose token's lowest 8 bits these are */
  bool tells_first_alone;  /* of all that has failed since somebody waited the first is told */
  bool tells_twice;        /* what failed is told once more with the next launch */
  bool tells_lost_at_wait; /* that the device is lost is told when somebody waits for a stream, not before */
  bool tells_at_end;       /* what failed is told when its stream is destroyed, not before */
  bool closes_not;         /* after a late error the device says that it is busy when it is to be closed */
  bool late_keeps;         /* it leaves 4 KiB behind */
  bool streams_stay;       /* the streams of a lost device are not destroyed */
  bool loses_all;          /* launches on other devices are lost from then on, too */
  bool opens_lost;         /* a device that was lost is lost again as soon as it is opened and used */
  /* An allocation that fails: */
  bool alloc_keeps;    /* the memory was taken all the same, and nobody frees it */
  bool alloc_internal; /* it is said to be somebody's mistake, not a shortage */
  bool alloc_lasts;    /* the next launch is refused for it, too */
  bool alloc_gives;    /* a handle is given with the error */
  /* Work that is held: */
  bool hold_blocks; /* allocating waits with it */
  bool hold_drops;  /* launches among it are gone when it is let go */
} kw_mutant_faults;

/* Devices are opened and closed as `mutant` does it by then. */
void kw_mutant_fault_group(kw_mutant *mutant, kw_mutant_faults defects);

/* Whether a launch has failed late, or lost the device, since the device was opened. */
bool kw_mutant_has_failed(void);

#endif /* KEYWAY_MUTANT_FAULT_H */
