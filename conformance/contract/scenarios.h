/* SPDX-License-Identifier: Apache-2.0
 *
 * What contract tests do in processes of their own (child.h).
 */
#ifndef KEYWAY_CONTRACT_SCENARIOS_H
#define KEYWAY_CONTRACT_SCENARIOS_H

/* What a scenario is called with: kw_contract holds all but the device. Its value is the exit code: 0 for what was
 * expected. What it writes to stderr is the reason, and a failing KW_CHECK writes there and exits. */
#define KW_CHILD_SCENARIOS(X) \
  X(fast_math)                \
  X(lifetime)                 \
  X(quiet)                    \
  X(usable)                   \
  X(init_again)               \
  X(extensions)               \
  X(structs_end)              \
  X(structs_end_inference)    \
  X(structs_end_training)     \
  X(destroy_finishes)         \
  X(fault_streams)            \
  X(fault_told)               \
  X(fault_ends)               \
  X(fault_refused)            \
  X(fault_work)               \
  X(fault_unknown)            \
  X(fault_orders)             \
  X(launch_choice)            \
  X(slots_destroy)            \
  X(slots_waits)              \
  X(slots_waiters)            \
  X(slots_queries)            \
  X(slots_rerecord)           \
  X(slots_outlives)           \
  X(slots_readers)            \
  X(slots_elapsed)            \
  X(slots_seconds)            \
  X(slots_alignment)          \
  X(slots_free)               \
  X(slots_descriptors)        \
  X(slots_allocating)         \
  X(slots_refused)            \
  X(slots_held_up)            \
  X(slots_prepared)           \
  X(slots_threads)            \
  X(slots_graphs)             \
  X(slots_limits)             \
  X(slots_wakes)              \
  X(slots_mark)               \
  X(slots_fresh)              \
  X(slots_fill_patterns)      \
  X(slots_copy_places)        \
  X(slots_in_order)           \
  X(slots_threads_read)       \
  X(slots_read_then_event)    \
  X(slots_write_then_event)   \
  X(slots_large_fills)        \
  X(slots_many_fills)         \
  X(slots_peer)               \
  X(slots_released)           \
  X(slots_half)               \
  X(slots_room)               \
  X(slots_usage)              \
  X(slots_counted)            \
  X(slots_sum)                \
  X(slots_defaults)           \
  X(slots_energy)             \
  X(slots_quiet)              \
  X(slots_thrown_away)        \
  X(slots_kept)               \
  X(slots_words)              \
  X(slots_workspace)          \
  X(slots_import_fills)       \
  X(slots_names)              \
  X(slots_streams_end)        \
  X(slots_small_copies)       \
  X(two_hosts)                \
  X(later_values)             \
  X(options)                  \
  X(later_host)               \
  X(fork_refused)             \
  X(fork_exec)                \
  X(fork_first)               \
  X(exit_in_flight)           \
  X(exit_held_up)             \
  X(exit_elsewhere)           \
  X(exit_in_function)         \
  X(exit_handlers)            \
  X(import)                   \
  X(copy_through_host)        \
  X(activity_waits)           \
  X(activity_order)           \
  X(activity_streams)         \
  X(activity_graph)           \
  X(activity_clock)           \
  X(activity_once)            \
  X(activity_late)            \
  X(activity_peer)            \
  X(fault_alloc)              \
  X(fault_late)               \
  X(fault_lose)               \
  X(fault_hold)               \
  X(fault_after)              \
  X(fault_graphs)             \
  X(fault_live)               \
  X(soak_activity)            \
  X(soak_late_errors)         \
  X(attributes)               \
  X(soak_readings)            \
  X(soak_starts)              \
  X(soak_refused_slots)       \
  X(soak_direct_imports)      \
  X(soak_refused_opens)       \
  X(scale_fill)

#define KW_DECLARE_SCENARIO(name) int kw_child_##name(void);
KW_CHILD_SCENARIOS(KW_DECLARE_SCENARIO)

/* The worker's main for `keyway-worker child SCENARIO SEED DEVICE PLUGIN PATIENCE EFFORT PARENT`. */
int kw_child_main(int argc, char **argv);

#endif /* KEYWAY_CONTRACT_SCENARIOS_H */
