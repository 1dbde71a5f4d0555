/* SPDX-License-Identifier: Apache-2.0
 *
 * The contract tests, by suite. The names are part of case ids ("stream/callback_order"): append, never rename lightly.
 * A test is the function kw_contract_<suite>_<name> in <suite>.c; the comment above it states the rule it checks.
 */
#ifndef KEYWAY_CONTRACT_SUITES_H
#define KEYWAY_CONTRACT_SUITES_H

#define KW_CONTRACT_SUITES(X) \
  X(abi)                      \
  X(environment)              \
  X(lifecycle)                \
  X(memory)                   \
  X(stream)                   \
  X(launch)                   \
  X(event)                    \
  X(slots)                    \
  X(copy)                     \
  X(constant)                 \
  X(thread)                   \
  X(error)                    \
  X(determinism)              \
  X(rng)                      \
  X(graph)                    \
  X(energy)                   \
  X(profile)                  \
  X(interop)                  \
  X(activity)                 \
  X(exit)                     \
  X(fault)                    \
  X(soak)                     \
  X(scale)                    \
  X(models)

#define KW_ABI_TESTS(X)          \
  X(abi, exports_only_query)     \
  X(abi, no_keyway_symbol)       \
  X(abi, does_not_link_keyway)   \
  X(abi, query_is_pure)          \
  X(abi, query_refuses_major_9)  \
  X(abi, query_reads_no_further) \
  X(abi, struct_sizes)           \
  X(abi, floor_slots)            \
  X(abi, key_and_vendor)         \
  X(abi, probe_again)            \
  X(abi, extensions)             \
  X(abi, structs_end)            \
  X(abi, later_host)             \
  X(abi, structs_end_inference)  \
  X(abi, structs_end_training)

#define KW_ENVIRONMENT_TESTS(X)           \
  X(environment, no_fast_math)            \
  X(environment, loading_changes_nothing) \
  X(environment, process_kept)            \
  X(environment, choices_kept)            \
  X(environment, threads_kept)            \
  X(environment, results_do_not_depend)   \
  X(environment, host_function_float)     \
  X(environment, whole_life)              \
  X(environment, stdout_untouched)

#define KW_LIFECYCLE_TESTS(X)           \
  X(lifecycle, device_list_stable)      \
  X(lifecycle, info_sane)               \
  X(lifecycle, names_lead_back)         \
  X(lifecycle, opens_are_counted)       \
  X(lifecycle, reopen)                  \
  X(lifecycle, tensor_outlives_close)   \
  X(lifecycle, close_with_work)         \
  X(lifecycle, all_devices_at_once)     \
  X(lifecycle, threads_open_and_close)  \
  X(lifecycle, threads_end)             \
  X(lifecycle, init_again)              \
  X(lifecycle, two_hosts)               \
  X(lifecycle, attributes)              \
  X(lifecycle, attributes_while_closed) \
  X(lifecycle, options)

#define KW_MEMORY_TESTS(X)               \
  X(memory, usage)                       \
  X(memory, alignment)                   \
  X(memory, zero_size)                   \
  X(memory, neighbours_kept)             \
  X(memory, slices_keep_neighbours)      \
  X(memory, op_keeps_neighbours)         \
  X(memory, fill_keeps_neighbours)       \
  X(memory, live_do_not_overlap)         \
  X(memory, accounting)                  \
  X(memory, out_of_memory)               \
  X(memory, out_of_memory_disturbs_none) \
  X(memory, out_of_memory_retry)         \
  X(memory, reuse_behind_gate)           \
  X(memory, reuse_across_streams)        \
  X(memory, cycles_do_not_leak)          \
  X(memory, streams_do_not_leak)         \
  X(memory, threads)                     \
  X(memory, large_do_not_overlap)        \
  X(memory, freed_comes_back)            \
  X(memory, host_memory)                 \
  X(memory, kinds)                       \
  X(memory, map_reads)                   \
  X(memory, map_waits)                   \
  X(memory, map_writes)                  \
  X(memory, maps_at_once)                \
  X(memory, ends_do_not_overlap)         \
  X(memory, freed_are_not_outgrown)

#define KW_STREAM_TESTS(X)            \
  X(stream, order)                    \
  X(stream, ops_in_order)             \
  X(stream, synchronize_waits)        \
  X(stream, device_synchronize_waits) \
  X(stream, query)                    \
  X(stream, others_go_on)             \
  X(stream, destroy_in_flight)        \
  X(stream, many_streams)             \
  X(stream, many_threads)             \
  X(stream, callback_order)           \
  X(stream, callback_not_inline)      \
  X(stream, callback_after_work)      \
  X(stream, callback_may_not_wait)    \
  X(stream, default_stream)           \
  X(stream, copies_behind_gate)       \
  X(stream, synchronize_within)       \
  X(stream, destroy_finishes)         \
  X(stream, callback_after_launch)

#define KW_LAUNCH_TESTS(X)        \
  X(launch, behind_gate)          \
  X(launch, inputs_kept)          \
  X(launch, data_anew)            \
  X(launch, attributes_anew)      \
  X(launch, shapes_anew)          \
  X(launch, choice_is_pure)       \
  X(launch, in_place)             \
  X(launch, later_values)         \
  X(launch, parts_in_lists)       \
  X(launch, long_lists)           \
  X(launch, every_attribute_anew) \
  X(launch, parts_of_one_buffer)  \
  X(launch, many_dimensions)

#define KW_EVENT_TESTS(X)         \
  X(event, fresh_is_completed)    \
  X(event, record_and_wait)       \
  X(event, query_behind_gate)     \
  X(event, synchronize_waits)     \
  X(event, orders_streams)        \
  X(event, wait_leaves_caller)    \
  X(event, record_again_moves)    \
  X(event, wait_is_as_of_now)     \
  X(event, destroy_while_pending) \
  X(event, chain_of_streams)      \
  X(event, wait_on_own_stream)    \
  X(event, elapsed)               \
  X(event, hand_over)             \
  X(event, other_device)          \
  X(event, synchronize_within)    \
  X(event, many_waits)            \
  X(event, passed_record_awaited)

#define KW_SLOTS_TESTS(X)          \
  X(slots, destroy_with_work)      \
  X(slots, waits_for_all_kinds)    \
  X(slots, waiters_at_once)        \
  X(slots, queries_see_progress)   \
  X(slots, others_while_held)      \
  X(slots, recorded_while_awaited) \
  X(slots, event_outlives_stream)  \
  X(slots, streams_wait_for_mark)  \
  X(slots, elapsed_spans_gate)     \
  X(slots, alignment)              \
  X(slots, free_after_wait)        \
  X(slots, descriptors_end)        \
  X(slots, threads_allocate)       \
  X(slots, refused_give_nothing)   \
  X(slots, prepared_apart)         \
  X(slots, threads_share_stream)   \
  X(slots, graphs_in_flight)       \
  X(slots, large_limits)           \
  X(slots, wait_outlasts_others)   \
  X(slots, wait_ends_at_mark)      \
  X(slots, fresh_after_destroyed)  \
  X(slots, fill_patterns)          \
  X(slots, copy_places)            \
  X(slots, kinds_in_order)         \
  X(slots, threads_read)           \
  X(slots, events_behind_reads)    \
  X(slots, events_behind_writes)   \
  X(slots, large_fills)            \
  X(slots, many_fills)             \
  X(slots, peer_copies_in_order)   \
  X(slots, process_kept)           \
  X(slots, prepared_is_released)   \
  X(slots, half_of_what_is_free)   \
  X(slots, refused_takes_nothing)  \
  X(slots, usage_is_its_devices)   \
  X(slots, usage_counts_all)       \
  X(slots, usage_adds_up)          \
  X(slots, defaults_return)        \
  X(slots, energy_goes_on)         \
  X(slots, failing_is_quiet)       \
  X(slots, thrown_away_is_freed)   \
  X(slots, error_words)            \
  X(slots, workspace_anywhere)     \
  X(slots, fills_of_imports)       \
  X(slots, memory_names)           \
  X(slots, streams_leave_nothing)  \
  X(slots, small_copies_return)

#define KW_COPY_TESTS(X)         \
  X(copy, small_sizes)           \
  X(copy, odd_offsets)           \
  X(copy, large)                 \
  X(copy, bits_kept)             \
  X(copy, strided_write)         \
  X(copy, strided_read)          \
  X(copy, async)                 \
  X(copy, within_device)         \
  X(copy, strided_within_device) \
  X(copy, source_unchanged)      \
  X(copy, other_device)          \
  X(copy, through_host)          \
  X(copy, ranks)

#define KW_CONSTANT_TESTS(X) \
  X(constant, changed)       \
  X(constant, apart)         \
  X(constant, in_order)

#define KW_THREAD_TESTS(X)             \
  X(thread, ops_on_many_streams)       \
  X(thread, ops_on_one_stream)         \
  X(thread, chains_on_one_stream)      \
  X(thread, plan_shared)               \
  X(thread, more_signatures_than_kept) \
  X(thread, counters_exact)            \
  X(thread, allocations_exact)         \
  X(thread, create_and_destroy)        \
  X(thread, events_hand_over)          \
  X(thread, error_text)                \
  X(thread, same_op_at_once)

#define KW_ERROR_TESTS(X)            \
  X(error, unknown_device)           \
  X(error, unknown_op)               \
  X(error, argument_count)           \
  X(error, argument_tag)             \
  X(error, argument_dtype)           \
  X(error, shapes_do_not_broadcast)  \
  X(error, output_shape_and_dtype)   \
  X(error, output_overlaps_input)    \
  X(error, output_overlaps_itself)   \
  X(error, in_place_overlap)         \
  X(error, other_device)             \
  X(error, tensor_shapes)            \
  X(error, views)                    \
  X(error, async_needs_contiguous)   \
  X(error, plan_signature)           \
  X(error, text_is_per_thread)       \
  X(error, index_out_of_range)       \
  X(error, one_bad_index)            \
  X(error, length_beyond_cache)      \
  X(error, sequences_out_of_order)   \
  X(error, row_starts_out_of_order)  \
  X(error, bags_out_of_order)        \
  X(error, weights_of_no_kind)       \
  X(error, region_of_no_image)       \
  X(error, late_error_outlives_plan) \
  X(error, first_data_error_told)    \
  X(error, source_too_small)

#define KW_EXIT_TESTS(X)      \
  X(exit, fork_refused)       \
  X(exit, fork_then_exec)     \
  X(exit, fork_before_start)  \
  X(exit, work_in_flight)     \
  X(exit, stream_held_up)     \
  X(exit, from_other_thread)  \
  X(exit, from_host_function) \
  X(exit, in_exit_handlers)

#define KW_RNG_TESTS(X)       \
  X(rng, known_answer)        \
  X(rng, words)               \
  X(rng, shape_and_strides)   \
  X(rng, long_draws)          \
  X(rng, every_op)            \
  X(rng, state)               \
  X(rng, default_generator)   \
  X(rng, refusals)            \
  X(rng, shared_by_threads)   \
  X(rng, graph)               \
  X(rng, bernoulli_threshold) \
  X(rng, aes_known_answer)

#define KW_GRAPH_TESTS(X)            \
  X(graph, launch_computes)          \
  X(graph, launches_in_order)        \
  X(graph, launch_behind_gate)       \
  X(graph, launch_elsewhere)         \
  X(graph, outlives_tensors)         \
  X(graph, results_outlive_graph)    \
  X(graph, memory)                   \
  X(graph, thrown_away)              \
  X(graph, refused_while_recording)  \
  X(graph, goes_on_after_wrong_call) \
  X(graph, misuse)                   \
  X(graph, conflicts)                \
  X(graph, ranks)                    \
  X(graph, reads_anew)               \
  X(graph, many_readers)

#define KW_ENERGY_TESTS(X)   \
  X(energy, never_decreases) \
  X(energy, from_any_thread)

#define KW_PROFILE_TESTS(X) X(profile, ranges_nest)

#define KW_INTEROP_TESTS(X)        \
  X(interop, host_range)           \
  X(interop, read_only_argument)   \
  X(interop, unknown)              \
  X(interop, alignment)            \
  X(interop, export_descriptor)    \
  X(interop, export_dmabuf)        \
  X(interop, export_bytes)         \
  X(interop, descriptor_elsewhere) \
  X(interop, bytes_elsewhere)      \
  X(interop, range_checked)        \
  X(interop, bytes_untrusted)      \
  X(interop, same_range_twice)     \
  X(interop, neighbours_aligned)

#define KW_ACTIVITY_TESTS(X)      \
  X(activity, inside_waits)       \
  X(activity, one_after_another)  \
  X(activity, streams_kept_apart) \
  X(activity, graph_launches)     \
  X(activity, clock_is_now)       \
  X(activity, given_once)         \
  X(activity, lost_are_counted)   \
  X(activity, peer_copies)

#define KW_FAULT_TESTS(X)            \
  X(fault, only_where_tests_are_run) \
  X(fault, allocation_fails)         \
  X(fault, launch_fails_late)        \
  X(fault, device_is_lost)           \
  X(fault, work_is_held)             \
  X(fault, error_is_its_streams)     \
  X(fault, names_stream_and_launch)  \
  X(fault, lost_device_closes)       \
  X(fault, refused_keeps_nothing)    \
  X(fault, all_as_before)            \
  X(fault, graphs_outlast_refusal)   \
  X(fault, lost_work)                \
  X(fault, unknown_is_refused)       \
  X(fault, order_takes_its_place)

/* In soak/; what has the least of it is first, so that a count is that of the process. */
#define KW_SOAK_TESTS(X)           \
  X(soak, launches)                \
  X(soak, launches_unwaited)       \
  X(soak, launches_across_streams) \
  X(soak, copies)                  \
  X(soak, records)                 \
  X(soak, events)                  \
  X(soak, waits)                   \
  X(soak, host_functions)          \
  X(soak, elapsed)                 \
  X(soak, graphs)                  \
  X(soak, graph_launches)          \
  X(soak, streams)                 \
  X(soak, threads)                 \
  X(soak, opens)                   \
  X(soak, opens_of_others)         \
  X(soak, plans)                   \
  X(soak, allocations)             \
  X(soak, host_memory)             \
  X(soak, maps)                    \
  X(soak, shared_by_descriptor)    \
  X(soak, shared_by_bytes)         \
  X(soak, host_ranges)             \
  X(soak, direct_imports)          \
  X(soak, first_number)            \
  X(soak, queries)                 \
  X(soak, peer_copies)             \
  X(soak, shapes)                  \
  X(soak, refused_imports)         \
  X(soak, ranges)                  \
  X(soak, energy)                  \
  X(soak, activity)                \
  X(soak, refused_allocations)     \
  X(soak, lists)                   \
  X(soak, late_errors)             \
  X(soak, readings)                \
  X(soak, starts)                  \
  X(soak, long_graphs)             \
  X(soak, live_events)             \
  X(soak, live_allocations)        \
  X(soak, live_host_memory)        \
  X(soak, refused_slots)           \
  X(soak, refused_opens)           \
  X(soak, graphs_of_many)

#define KW_SCALE_TESTS(X)            \
  X(scale, copies)                   \
  X(scale, strided_copies)           \
  X(scale, placed_beyond_2_gib)      \
  X(scale, placed_beyond_4_gib)      \
  X(scale, placed_beyond_8_gib)      \
  X(scale, many_beyond_4_gib)        \
  X(scale, many_beyond_8_gib)        \
  X(scale, kernels_beyond_4_gib)     \
  X(scale, copies_beyond_4_gib)      \
  X(scale, fill_beyond_4_gib)        \
  X(scale, plugin_fill_beyond_4_gib) \
  X(scale, taken_by_index)           \
  X(scale, put_by_index)             \
  X(scale, cat_of_parts)             \
  X(scale, broadcast)                \
  X(scale, rows_beyond_31_bits)      \
  X(scale, sum_beyond_31_bits)       \
  X(scale, extreme_beyond_31_bits)   \
  X(scale, index_beyond_31_bits)     \
  X(scale, broadcast_beyond_31_bits) \
  X(scale, elements_beyond_31_bits)  \
  X(scale, cat_beyond_31_bits)

#define KW_MODELS_TESTS(X)            \
  X(models, gpt2)                     \
  X(models, gpt2_f16)                 \
  X(models, gpt2_bf16)                \
  X(models, gpt2_training)            \
  X(models, gpt2_training_f16)        \
  X(models, gpt2_training_bf16)       \
  X(models, llama)                    \
  X(models, llama_f16)                \
  X(models, llama_bf16)               \
  X(models, llama_training)           \
  X(models, llama_training_f16)       \
  X(models, llama_training_bf16)      \
  X(models, bottleneck)               \
  X(models, bottleneck_f16)           \
  X(models, bottleneck_bf16)          \
  X(models, bottleneck_training)      \
  X(models, bottleneck_training_f16)  \
  X(models, bottleneck_training_bf16) \
  X(models, minilm)                   \
  X(models, minilm_f16)               \
  X(models, minilm_bf16)

/* Once per op. */
#define KW_SCALE_OP_TESTS(X) \
  X(scale, pointwise)        \
  X(scale, rows)             \
  X(scale, long)
#define KW_ERROR_OP_TESTS(X) X(error, op)
#define KW_DETERMINISM_OP_TESTS(X) X(determinism, op)
#define KW_GRAPH_OP_TESTS(X) X(graph, op)

#endif /* KEYWAY_CONTRACT_SUITES_H */
