/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Constants that affect speed or memory, never results, and whose values were measured or that more than one file uses.
 * Others, limits, alignments and what kernels are written for stand where they are used.
 *
 * Each says its unit, what changes when it grows ("Larger:"), where its value comes from ("From:"; "an H200" is a
 * measurement on an NVIDIA H200 with 16 cores) and what measures it again ("Measure:"; rows are those of leat-bench
 * --only, models those of tools/bench/ort_eps.py; "--tune" is leat-bench's option, which finds a value of
 * policy/tuning.h again). "From: reasoning" is a value that was never compared with another one. How to compare two:
 * docs/benchmarks.md, "Comparing two builds".
 */
#ifndef LEAT_PLUGIN_POLICY_CONSTANTS_H_
#define LEAT_PLUGIN_POLICY_CONSTANTS_H_

#include <stdint.h>

/* ---- Waiting (policy/waiting.h) -----------------------------------------------------------------------------------
 */

/** Nanoseconds: what waking a blocked thread takes; a wait that is expected to end within it is spun away. Larger:
 * short waits end sooner, for more CPU time. From: an H200. Measure: op, cpu. */
#define LEATI_WAKE_NS UINT64_C(60000)
/** Nanoseconds: a wait that usually takes less is spun through from its begin, of a longer one the first half is slept.
 * Larger: waits of a millisecond end sooner, for their whole length of CPU time. From: an H200, where a blocked wait of
 * 964 us took 1,276. Measure: chain, cpu. */
#define LEATI_SPIN_WHOLE_NS UINT64_C(1000000)
/** Nanoseconds: a leader submits within about so long. A thread whose list it has sleeps as long and looks again: if it
 * slept behind the role instead, the kernel would hand it the role, and nobody would lead until it runs. Larger: a late
 * look; fewer wakings. From: an H200 (1.03 of the runs; asleep behind the role 0.94). Measure: op with 31 threads. */
#define LEATI_HAND_OVER_NS UINT64_C(50000)
/** Looks at the lane from one reading of the clock to the next: a clock costs as much as a few looks. Larger: a
 * spinning thread notices the end of its patience later. From: reasoning. Measure: op, cpu. */
#define LEATI_LOOKS_PER_CLOCK 8
/** Nanoseconds: whoever blocks inside looks up so often whether the process ends or the device is gone. Larger: fewer
 * wakings; exit() takes longer. From: reasoning. Measure: ctest -L life. */
#define LEATI_GATE_LOOK_NS UINT64_C(50000000)

/* ---- Batching (policy/submitting.h)
 * ----------------------------------------------------------------------------------
 */

/** Batches in flight at most before lists wait for others. With two the queue never runs dry while the next group
 * gathers. Larger: lists meet less and share fewer command buffers. From: an H200 (8 threads: one 156,000 runs/s, two
 * 193,000, three 179,000). Measure: op, chain. */
#define LEATI_IN_FLIGHT_MAX 2
/** Batches of a lane that are remembered. Larger: more cache lines; what more batches in flight than these took is not
 * known. From: reasoning. Measure: depth. */
#define LEATI_BATCHES_REMEMBERED 64
/** Nanoseconds that a queue with one batch in flight loses beside writing: the end is seen late, and the submission
 * arrives. Larger: two batches in flight for longer ones. From: an H200. Measure: chain. */
#define LEATI_TURN_NS UINT64_C(20000)
/** Nanoseconds: a batch that takes less may be nothing but the way to the device and back (11 us, and on some days 45).
 * Larger: one batch in flight for longer ones only. From: the same. Measure: op, chain. */
#define LEATI_BATCH_LONG_NS UINT64_C(60000)
/** Batches of one list in a row after which nothing is gained by one in flight. Larger: threads that never meet lose
 * for longer. From: an H200 (without it two threads out of step lose a sixth). Measure: paced. */
#define LEATI_SINGLE_LIST_STREAK 16
/** Batches for which two are then in flight before one is tried again. Larger: work that has changed to where lists
 * meet is noticed later. From: the same. Measure: paced. */
#define LEATI_SINGLE_LIST_REST 256
/** Nanoseconds after the end of a batch for which its threads' next lists are waited for. Larger: lists meet more; a
 * list that no other joins goes later. From: an H200 (3 us are as good; without it 8 threads lose a fifth).
 * Measure: op with 8 threads. */
#define LEATI_GATHER_NS UINT64_C(6000)
/** With one batch in flight, the part of what a batch took for which lists are waited for: one in so many. Larger: they
 * meet less. From: an H200. Measure: chain. */
#define LEATI_GATHER_PART 8
/** Looks that an attendant leaves to the thread that led last, which has what the driver touches in its cache: it takes
 * half as long to write and submit. Larger: a list goes later if that thread is away. From: an H200 (3 and 15 are as
 * good; without it 8 threads lose a fifth). Measure: op with 8 threads. */
#define LEATI_PASSES_MAX 6
/** How often a thread leads in one call; then the next thread that hands a list over, or spins, relieves it. Larger: a
 * caller may lead for others for longer; fewer moments in which nobody leads. From: an H200 (8 turns: 0.93 of the
 * runs). Measure: op with 31 threads. */
#define LEATI_TURNS_MAX 64
/** Lists that share a command buffer, and that go to the queue in one call. Larger: fewer submissions; more stack and
 * more to write before any of it runs. From: reasoning (more than the threads that were measured). Measure: op, depth
 * with 31 threads. */
#define LEATI_COMMAND_BUFFER_LISTS_MAX 64
/** Commands of a list that is held at most: more than launches of most graphs have. Of long lists of operators that are
 * called one by one few are the same again, because where they end depends on how far the device is. Larger: more is
 * compared and copied in vain; 48 bytes a command for each list that is held. From: an H200 (with 256 a model whose
 * launch has 260 commands makes 430 tokens a second and not 474). Measure: op, linear, chain, launch with one thread;
 * tools/bench/decoder.py --size 1.5b. */
#define LEATI_HELD_COMMANDS_MAX 1024

/* ---- The work of a submission (policy/submitting.h)
 * ----------------------------------------------------------------
 */

/** Microseconds of device time of one submission at most, by estimate: drivers reset a device of which one takes
 * seconds (2 s at the soonest, as far as known). Larger: fewer submissions of work that takes long; less is left
 * between the estimate and the reset. From: reasoning (a twentieth of 2 s, because an estimate may be that far below
 * what a slow device takes). Measure: ctest -R nulldriver.long_lists; whole models. */
#define LEATI_SUBMISSION_US UINT64_C(100000)
/** Nanoseconds of a dispatch or copy beside what it moves and multiplies. Larger: shorter submissions of many small
 * ones. From: an H200 (a dispatch behind a barrier). Measure: launch. */
#define LEATI_COMMAND_NS UINT64_C(4000)

/* ---- Recording (policy/submitting.h)
 * ---------------------------------------------------------------------------------
 */

/** Commands of a list that goes without being asked once the device has finished what the stream gave it before.
 * Larger: the device starts on a model later; fewer submissions. From: an H200 (with 16, models are 5 to 12 % slower
 * from 8 threads). Measure: whole models with 1 and 8 threads. */
#define LEATI_COMMANDS_WORTH_SUBMITTING 64
/** Commands of a list that goes in any case. Larger: streams hold more; the device starts later. From: reasoning.
 * Measure: whole models with 8 threads. */
#define LEATI_COMMANDS_MAX 512
/** Ranges of memory remembered since the last barrier; when they run out a barrier starts afresh. Larger: fewer
 * needless barriers; each command is compared with more. From: reasoning. Measure: whole models;
 * tools/bench/instructions.py. */
#define LEATI_RANGES_MAX 64

/* ---- Lanes (policy/lane_tuner.h, policy/submitting.h)
 * ----------------------------------------------------------------
 */

/** Seconds that a list keeps a lane busy for from which on it loses nothing by a lane of its own: many times what a
 * change of queue takes. Larger: fewer works get all lanes without a trial. From: an H200. Measure: chain, 7 and 80 us.
 */
#define LEATI_LIST_LONG_S 150e-6
/** Seconds likewise, below which lists are small enough to share command buffers: more than a few lanes only keep them
 * apart, and may run them at a tenth of the speed. Larger: longer lists are kept on few lanes. From: the same. Measure:
 * op, --lanes 1,2,4,8,unset by LEAT_LANES. */
#define LEATI_LIST_SHORT_S 25e-6
/** Lanes that such lists get at most. Larger: the same as a smaller LEATI_LIST_SHORT_S. From: an H200 (31 threads: one
 * 510,000 runs/s, two 606,000, four 59,000). Measure: op. */
#define LEATI_LANES_FEW 2
/** Lists on each lane that will do instead if they are long; and lists from one look at the interval to the next.
 * Larger: likewise. From: reasoning. Measure: chain, 80 us. */
#define LEATI_INTERVAL_LONG_LISTS 16

/* ---- Memory (policy/allocation.h) ---------------------------------------------------------------------------------
 */

/** Bytes of the largest block that is one of many in a segment. Larger: blocks of more than a segment's usual size are
 * rounded up by up to a quarter. From: reasoning. Measure: whole models, memory->stats. */
#define LEATI_CLASS_MAX (UINT64_C(32) << 20)
/** Blocks that a timeline keeps for what its stream allocates next, each of another size class: an input, an output and
 * what a launch needs meanwhile seldom have one place of eight. Larger: streams that launch several graphs in turn find
 * more; idle ones hold more memory. From: reasoning. Measure: launch; linear of tools/bench/ort_eps.py by leat-run from
 * 31 threads. */
#define LEATI_KEPT_BLOCKS 8
/** Bytes of the largest of them: whatever needs more runs for so long that threads seldom meet at a size class. Larger:
 * idle streams hold more memory. From: an H200 (31 threads launch a graph 1.17 times as often). Measure: the same, and
 * whole models. */
#define LEATI_KEPT_BLOCK_MAX (UINT64_C(4) << 20)
/** Uses of a block by other timelines that are kept in it; further ones go to the heap. Larger: larger blocks. From:
 * reasoning. Measure: whole models with 8 threads on one session. */
#define LEATI_INLINE_STAMPS 3
/** Bytes of the largest block in memory that the host has mapped, where the device has such memory of its own. Larger:
 * larger uploads without a command; page tables for more. From: reasoning. Measure: linear, host to host. */
#define LEATI_MAPPED_BLOCK_MAX (UINT64_C(1) << 20)
/** Bytes of the largest upload that the host writes straight into such a block. Larger: the host sends what the device
 * could fetch. From: an H200 (24 us a run and not 28). Measure: linear, host to host. */
#define LEATI_DIRECT_UPLOAD_MAX (UINT64_C(64) << 10)
/** Bytes of the largest download that a kernel writes on a discrete GPU, which changes from kernels to copies and back
 * slowly and copies more than that faster. Larger: slower large downloads. From: an H200 (21 us a run and not 24).
 * Measure: linear, host to host. */
#define LEATI_KERNEL_DOWNLOAD_MAX (UINT64_C(64) << 10)
/** Bytes of a piece of a large download at least, on a device with memory of its own: the host copies one while the
 * device copies the next. Larger: fewer submissions; the host begins later. From: reasoning (the bus takes some 80 us
 * for it, a submission the device a few). Measure: leat-bench --only download; gpt2. */
#define LEATI_DOWNLOAD_PIECE (UINT64_C(2) << 20)
/** Bytes of a download, or of a piece of one, from which on it is copied past the processor's caches. Larger: more of
 * what a thread reads next is in its caches; each line of the destination is read first. From: an H100 (8 threads:
 * 2,950 downloads/s of 13 MB and not 2,450). Measure: leat-bench --only download; gpt2. */
#define LEATI_DELIVERY_HUGE_MIN (UINT64_C(2) << 20)
/** Bytes of the staging chunk that each device has in reserve: copies that find no memory for their own go through it
 * piece by piece. Larger: such copies are faster, as each piece is waited for; memory that nothing else can have. From:
 * reasoning (the bus takes some 50 us for a piece, waiting for it about as long). Measure: ctest -R nulldriver.reserve.
 */
#define LEATI_RESERVE_SIZE (UINT64_C(1) << 20)
/** Bytes of a staging chunk for argument records, and for uploads or downloads: most models' fit in one of each. A list
 * with several may be written again each time, as they come in another order. Larger: more memory of each stream; fewer
 * chunks. From: an H200 (a token of a large decoder 1.48 ms, with 64 KiB 1.76). Measure: whole models, decoder.py,
 * leat-info's staging_bytes. */
#define LEATI_CHUNK_ARGUMENTS_SIZE (UINT64_C(256) << 10)
#define LEATI_CHUNK_COPY_SIZE (UINT64_C(256) << 10)
/** Chunks of that size that are made at once. Larger: threads that begin together wait less for the driver; more memory
 * where one stream is used. From: an H200 (8.5 ms and not 15.0). Measure: shapes.py server, never seen, p99. */
#define LEATI_CHUNKS_PER_SLAB 8u
/** Bytes that larger chunks are rounded up to, a power of two. Larger: they serve more copies; more is lost in each.
 * From: reasoning. Measure: the same. */
#define LEATI_CHUNK_GRANULE (UINT64_C(64) << 10)
/** Bytes of larger chunks that are kept for reuse. Larger: fewer allocations where copies are large; memory of the
 * host. From: reasoning. Measure: gpt2. */
#define LEATI_CHUNKS_LARGE_KEPT_MAX (UINT64_C(256) << 20)
/** Bytes of usual chunks that a stream keeps for itself; what exceeds it is for all. Larger: less contention; streams
 * that need much one after the other each keep it. From: an H200 (without lists of their own 16 threads lose a
 * twelfth). Measure: op with 31 threads, flat. */
#define LEATI_CHUNKS_OWN_KEPT_MAX (UINT64_C(2) << 20)
/** Free lists of chunks by stream, as many as the pool has streams: threads whose lists end together give their chunks
 * back together. Larger: fewer streams share one. From: an H200, as above. Measure: op with 31 threads. */
#define LEATI_CHUNK_USERS 32
/** Waiting blocks that a call looks at. Larger: found earlier; slower calls under guard. From: reasoning. Measure:
 * alloc under guard. */
#define LEATI_QUARANTINE_PROBES 64

/* ---- Books (used where they are named) ----------------------------------------------------------------------------
 */

/** Files of compiled pipelines that a folder keeps, for devices, drivers and builds that were used last. Larger: going
 * back to an older one compiles less; more of the disk. From: reasoning. Measure: du on LEAT_CACHE_DIR. */
#define LEATI_CACHE_FILES_KEPT 16u
/** Compiling takes so many times what saving its results to disk may take. Larger: a process that ends without closing
 * its device loses more pipelines; first runs are slower by less. From: reasoning. Measure: the first run of a model
 * with an empty LEAT_CACHE_DIR. */
#define LEATI_COMPILE_PER_SAVE 8u
/** Bytes of the plans that an operator caches. Larger: operators that are called with more shapes plan less; memory.
 * From: reasoning (some tens of plans, for each of some hundred operators). Measure: tools/bench/instructions.py;
 * models with dynamic shapes and LEAT_FORCE_DIRECT_PATH=1. */
#define LEATI_PLANS_BYTES (UINT64_C(64) << 10)
/** Events, and timestamps, that are made at once. Larger: fewer allocations; memory of a program that uses one. From:
 * reasoning. Measure: depth. */
#define LEATI_EVENTS_PER_BLOCK 64
#define LEATI_TIMESTAMPS_PER_BLOCK 256

/* ---- Kernels (policy/tiling.h) ------------------------------------------------------------------------------------
 */

/** Processors that a device is taken to have (leati_traits) where no extension tells (leati_physical). Larger: smaller
 * tiles and more splits, which a small device loses by. From: large GPUs. Measure: --tune; whole models with 1 thread.
 */
#define LEATI_PROCESSORS_ASSUMED 128u
/** Quarters of the processors that tiles of 128, and of 64, must give workgroups for: below, smaller ones pay. One of
 * the largest tiles of reals fills a processor, so that of those as many are wanted for each turn that they take.
 * Larger: smaller tiles, each of which loads more for what it computes. From: an H200. Measure: --tune. */
#define LEATI_GEMM_FILL_128_QUARTERS 3u
#define LEATI_GEMM_FILL_64_QUARTERS 6u
/** Quarters of the processors: a product of reals that would have tiles of 32 has tiles of 16, whose workgroups share
 * out k to more threads and are never split, where there are no more of them and k is no longer than LEATI_GEMM_K_16.
 * Larger: more workgroups, each of which reads half as much of the operands for a quarter of the elements; longer
 * products that are not split. From: an H200 (64x384x384 takes 4.2 us and not 5.6, 96x49x576 5.5 and not 6.6;
 * 64x384x1536 9.4 and not 8.5, 64x1536x384 7.9 and not 6.6). Measure: --tune; whole models. */
#define LEATI_GEMM_FILL_16_QUARTERS 6u
#define LEATI_GEMM_K_16 576u
/** Elements of k from which on a product by tiles of 32 whose k is not split has four slices of it and not two, and
 * quarters of the processors: where there are no more such tiles. A workgroup then goes along k in half as many steps,
 * each of which waits for memory where weights lie in no cache; of such workgroups a processor holds fewer threads.
 * Larger: fewer such products; more of them. From: an H200, with weights that no cache holds. Measure: kernels with
 * rows *-matmul-*; whole models with 1 and 8 threads. */
#define LEATI_GEMM_SLICES_MIN 256u
#define LEATI_GEMM_SLICES_FILL_QUARTERS 4u
/** Workgroups for each processor that a product of tiles of 64 or 32 is split for. Larger: shorter tails, and more
 * loads on the way; more pieces to add up. From: an H200. Measure: --tune. */
#define LEATI_GEMM_SPLIT_FILL 4u
/** Elements of k of one split at least. Larger: fewer pieces to add up; fewer workgroups. From: an H200. Measure:
 * --tune. */
#define LEATI_GEMM_SPLIT_MIN 256u
/** Quarters of the processors for which a product that is not split may give workgroups and they count as few. Larger:
 * more products are split into the smaller parts that follow. From: an H200. Measure: kernels with rows *-matmul-*. */
#define LEATI_GEMM_FEW_QUARTERS 1u
/** Elements of k of one split at least where workgroups are that few. Larger: as with LEATI_GEMM_SPLIT_MIN. From: an
 * H200. Measure: kernels with rows *-matmul-*. */
#define LEATI_GEMM_SPLIT_MIN_FEW 128u
/** LEATI_GEMM_FILL_128_QUARTERS, LEATI_GEMM_FILL_64_QUARTERS, LEATI_GEMM_SPLIT_FILL and LEATI_GEMM_SPLIT_MIN for
 * products on matrix hardware, whose workgroups are sooner done with their part of k; of the largest tile, a split has
 * more. Larger: as above. From: an H200. Measure: --tune. */
#define LEATI_MATRIX_FILL_128_QUARTERS 3u
#define LEATI_MATRIX_FILL_64_QUARTERS 2u
#define LEATI_MATRIX_SPLIT_FILL 2u
#define LEATI_MATRIX_SPLIT_MIN 384u
#define LEATI_MATRIX_SPLIT_MIN_128 2048u
/** Quarters of the processors: a product there that tiles of 64 would not fill has tiles of 16, whose subgroups have a
 * part of k each, where there are no more of them, each counted for each LEATI_MATRIX_SPLIT_MIN_16 of k; a split of one
 * has so much of k at least. Larger: more workgroups, which read operands more often. From: models on an H200, where 64
 * x 768 x 768 takes 9.3 us by tiles of 32 and 7.0 so, and 64 x 768 x 3,072 11.6 and 12.9; the rows of leat-bench read
 * operands that the device's cache holds. Measure: kernels with rows half-matmul-*. */
#define LEATI_MATRIX_FILL_16_QUARTERS 8u
#define LEATI_MATRIX_SPLIT_MIN_16 1024u
/** Elements of a constant operand there, k x n, up to which a second copy is kept that lies along k, but for tiles of
 * 128. Larger: faster products, for twice the memory of more weights. From: an H200 (four models of text and images
 * took 1.5 to 4.5 % less time); the bound is of reasoning, for models whose weights are much of a device's memory.
 * Measure: leat-bench --only kernels --rows 'half-gemm-*,half-matmul-*', where products of the one lie so. */
#define LEATI_MATRIX_ALONG_K_MAX 4000000u
/** LEATI_MATRIX_SPLIT_FILL and LEATI_MATRIX_SPLIT_MIN for convolutions there, whose time is that of gathering. Larger:
 * as above. From: an H200. Measure: kernels with rows half-conv-*. */
#define LEATI_MATRIX_GATHER_SPLIT_FILL 4u
#define LEATI_MATRIX_GATHER_SPLIT_MIN 192u
/** Millions of multiplications from which on a convolution on matrix hardware has the channels of images and weights
 * converted to NHWC first, to gather eight of them at once. Larger: what both dispatches of that cost is less of
 * the convolution, and more convolutions gather one element at a time. From: an H200 (3 x 3 in float16, us without and
 * with: 115 millions 10.4 and 11.3 to 14.5 and 20.4, 462 millions 23.1 and 21.7, 925 millions 26.8 and 26.4 to 62 and
 * 44, 59,190 millions 820 and 528). Measure: --tune; leat-bench --only kernels --rows 'half-conv-*'. */
#define LEATI_CONV_LAST_MIN 384u
/** Multiplications for each element that is moved so, at least. Larger: likewise. From: an H200 (32 channels to 32, 288
 * of them: 41.4 and 38.5 us) and reasoning (a convolution of one tap that skips pixels does few with each, and what it
 * skips would be moved too). Measure: --tune. */
#define LEATI_CONV_LAST_EACH 192u
/** Keys from which on attention of float16 is computed by matrix hardware. Larger: the plain kernel, which is sooner
 * done with few, has more. From: an H200 (64 keys: 8.6 us, and 6.2 without; 128: 7.2 and 11.7; 2,048: 0.76 ms
 * and 10.3). Measure: --tune. */
#define LEATI_ATTENTION_MATRIX_KEYS 128u
/** Quarters of the processors below which workgroups of attention on matrix hardware are made of fewer subgroups, for
 * more of them. Larger: each workgroup loads all keys and values for fewer queries. From: an H200 (197 queries and keys
 * of 6 heads: 24.6 us, and 26.1 with four subgroups). Measure: kernels with rows half-attention-*. */
#define LEATI_ATTENTION_FILL_QUARTERS 4u
/** Quarters of the processors below which workgroups of attention share the keys of a query, for twice as many; and
 * keys of one of them at least. Larger: more workgroups are put together at the end. From: an H200 (one query of 32
 * heads that share 8 of 4,096 keys: 421 us without, 52 with these, the same with 8 and 16 quarters, which lose 25 % at
 * 8,192 keys; 73 with 64 keys at least). Measure: --tune; a decoder with 512 to 8,192 keys. */
#define LEATI_ATTENTION_SPLIT_FILL_QUARTERS 4u
#define LEATI_ATTENTION_SPLIT_MIN 128u
/** Queries up to which attention goes to the kernel that reads each key once for all heads that share it. Larger: tiles
 * and matrices would be emptier than this; each thread has more arithmetic for a key. From: an H100 (0: 2.5 times as
 * slow as with 8; 16: 10 % faster, by the rows of 12 queries). Measure: --tune. */
#define LEATI_ATTENTION_FEW_QUERIES 16u
/** Threads at least that have a key of that kernel among them, if that leaves each a piece of 16 bytes. Larger: less of
 * each key and of the results in a thread; more exchanges for a score. From: an H200 (with 4 it takes 1 % less, and 10
 * % less to 2 % more by row; with 16 and 32 3 and 27 % more). Measure: kernels with rows *decode-*;
 * tools/bench/decoder.py. */
#define LEATI_ATTENTION_FEW_LANES 8u
/** Pieces of keys that a thread of it has on the way, and as many of values. Larger: more in flight; more registers,
 * and fewer workgroups for few keys. From: an H200 (1: 12 % slower, 2: 5 %, 8: 85 %, 16: 58 %). Measure: --tune;
 * tools/bench/decoder.py. */
#define LEATI_ATTENTION_FEW_FLIGHT 4u
/** Threads of its workgroups at most, and at least where keys would not go round to all processors. Larger: fewer
 * workgroups to join, and more within each. From: an H200 (at most 64, 128, 512: 63 and 10 % slower, 1 % faster, which
 * is 10 % faster to 6 % slower by row; at least 64, 256: 11 % slower, the same). Measure: --tune;
 * tools/bench/decoder.py. */
#define LEATI_ATTENTION_FEW_THREADS 256u
#define LEATI_ATTENTION_FEW_THREADS_MIN 128u
/** Quarters of the processors that its workgroups may be where several share the keys of a head. Larger: more of them
 * to join. From: an H200 (2, 8, 16: 9, 21 and 28 % slower). Measure: kernels with rows *decode-*;
 * tools/bench/decoder.py. */
#define LEATI_ATTENTION_FEW_FILL_QUARTERS 4u
/** Quarters of the processors below which workgroups of the kernels for small m are split, for twice as many; and
 * elements of k of one split at least. Larger: as above. From: an H200. Measure: --tune; linear. */
#define LEATI_GEMV_FILL_QUARTERS 3u
#define LEATI_GEMV_SPLIT_MIN 512u
/** Workgroups for each processor that a product of small m with weights of few bits is split for. Larger: more loads
 * on the way; more pieces to add up. From: an H100 (a decoder of 1.1 billion weights of 4 bits: 600 tokens a second
 * from one thread and 1,667 from eight; 540 and 1,524 with 2, 528 and 1,490 with 4). Measure: --tune;
 * tools/bench/decoder.py. */
#define LEATI_NBITS_FILL 1u
/** Rows or columns up to which a product goes to the kernels for small m; at most the 8 that those are written for.
 * Larger: tiles would be emptier than this. From: an H200. Measure: --tune; linear; gpt2. */
#define LEATI_GEMV_ROWS 8u
/** The same where it would else go to matrix hardware, which fills up rows that there are not. Larger: each row takes
 * loads and sums of its own. From: an H200 (products of float16 in us, here and on matrices: 2x16384x4096 36.8
 * and 54.3, 4x16384x4096 42.0 and 54.4, 8x16384x4096 68.1 and 54.8, 4x2048x2048 7.6 and 9.5, 8x2048x2048 9.7 and 9.5,
 * 8x384x384 6.0 and 4.5). Measure: --tune; tools/bench/decoder.py. */
#define LEATI_MATRIX_GEMV_ROWS 4u
/** Columns of a workgroup of such a kernel at least where it reads several at once. Larger: fewer workgroups, whose k
 * is split. From: an H200 (1x2048x2048 of a decoder in float16: 8.3 us with 512 threads, and 9.3 with 32). Measure:
 * kernels with rows *-matmul-1x*; tools/bench/decoder.py. */
#define LEATI_GEMV_COLUMNS_MIN 16u
/** Columns from which on such a kernel reads four of b at once along its columns. Larger: more workgroups for narrow
 * products, each with narrower loads. From: an H200. Measure: kernels with rows *-matmul-1x*; minilm and gpt2 with 1
 * thread. */
#define LEATI_GEMV_QUADS_COLUMNS 1024u
/** Workgroups for each processor that a reduction wants, so that enough loads are in flight; with fewer it is cut into
 * chunks. Larger: more pieces for the second dispatch. From: an H200. Measure: --tune; minilm, mobilenet_v3_small with
 * 1 thread. */
#define LEATI_REDUCE_FILL 4u
/** Times what it wants that a cut reduction gets workgroups. Larger: likewise. From: an H200. Measure: kernels with
 * rows *-sum*. */
#define LEATI_REDUCE_SPLIT_FILL 2u
/** Elements of a chunk for each thread of a row at least. Larger: fewer chunks. From: an H200. Measure: --tune. */
#define LEATI_REDUCE_CHUNK_MIN 16u
/** Taps of a slice up to which a depthwise convolution has them written out. Larger: more loads on their way at once;
 * longer kernels, and registers for what is fetched. From: an H200 (5 x 5: 5.6 us, and 4.2 written out) and reasoning
 * (7 x 7 is the largest of usual models). Measure: leat-bench --only kernels --rows 'model-depthwise-*';
 * mobilenet_v3_small with 1 thread. */
#define LEATI_DEPTHWISE_TAPS_MAX 49
/** Elements of a channel for each thread that computes the mean of one in squeeze and excitation, at most while a
 * workgroup has threads for them. Larger: more channels for a workgroup, fewer workgroups. From: an H200. Measure:
 * mobilenet_v3_small with 1 thread. */
#define LEATI_SQUEEZE_LOADS 16u
/** Weights of excite with which squeeze and excitation is one dispatch, in which one workgroup reads them, at most.
 * Larger: fewer dispatches, each of which may take longer than three. From: an H200, where 576 x 144 take as long
 * either way and 672 x 168 a fifth longer. Measure: mobilenet_v3_small with 1 thread, LEAT_FUSIONS_OFF=squeeze beside
 * it. */
#define LEATI_SQUEEZE_WEIGHTS_MAX 98304u
/** Elements of a row that lies along memory up to which 1, 8 and 32 threads share it; beyond, all 256 of a workgroup.
 * Larger: fewer threads to a row, more rows at once. From: an H200. Measure: kernels with rows *-sum-*; minilm
 * (softmax, norms). */
#define LEATI_ROW_1_MAX 4u
#define LEATI_ROW_8_MAX 64u
#define LEATI_ROW_32_MAX 256u
/** The same for 32 threads where there are so many rows that the device is full anyhow, and how many those are. Larger:
 * fewer threads to a row; the second, in fewer cases. From: an H200. Measure: kernels with rows *-sum-*; minilm with
 * batches. */
#define LEATI_ROW_32_MANY_MAX 512u
#define LEATI_ROWS_MANY 1024u
/** Rows that lie across memory: elements up to which one thread has a row and below which 8 do, and the rows from which
 * on (one) and above which (8) that holds for longer ones too. Larger: fewer threads to a row. From: an H200. Measure:
 * kernels with rows rule-sumdown-*. */
#define LEATI_ACROSS_1_MAX 8u
#define LEATI_ACROSS_1_ROWS 16384u
#define LEATI_ACROSS_8_BELOW 64u
#define LEATI_ACROSS_8_ROWS 1024u
/** Threads of a norm up to which scale and bias are kept in registers beside a row: so many run at once on a large GPU,
 * and what counts is how long each takes. Larger: fewer workgroups beside each other where there are many rows. From:
 * an H200 (64x384, 4096x1024 and 65536x4096). Measure: kernels with rows *-softmax-*,*-layernorm-*. */
#define LEATI_ROW_EARLY_MAX 262144u
/** Bytes of the recurrent weights of a direction up to which a workgroup goes through all steps by itself, and steps
 * from which on it does. Larger: fewer dispatches; weights that one processor reads for each step, or layers of few
 * steps that many would share. From: an H200, where no other value that --tune tries is faster. Measure: kernels with
 * rows lstm-*. */
#define LEATI_RECURRENT_WHOLE_MAX 262144u
#define LEATI_RECURRENT_WHOLE_STEPS 2u
/** Threads of such a workgroup at most. Larger: more of the weights in registers, steps at whose ends more threads
 * meet. From: an H200 (1024: 5 % slower over eight rows, lstm-128x1x128 54 %; lstm-1x1x128 as fast). Measure: --tune.
 */
#define LEATI_RECURRENT_THREADS 512u
/** Workgroups in quarters of the processors that a dispatch of one step has at least. Larger: more and smaller ones,
 * which read what the states are anew. From: an H200, likewise. Measure: kernels with rows lstm-*. */
#define LEATI_RECURRENT_FILL_QUARTERS 3u
/** Items that a thread of a strided copy moves at once, and items from which on it does; with fewer items more threads
 * share them. Larger: fewer workgroups, each with more loads in flight. From: reasoning. Measure: --tune. */
#define LEATI_COPY_EACH 4u
#define LEATI_COPY_ITEMS_MANY 262144u
/** Bytes of a tensor up to which a graph has its elements read one by one from where they lie apart, rather than copied
 * so that they are neighbours. Larger: fewer dispatches; each element that is read costs a whole sector of memory.
 * From: reasoning (eight times the bytes out of a cache take less than a level of a graph). Measure: whole models. */
#define LEATI_SCATTERED_MAX (UINT64_C(1) << 20)

#endif /* LEAT_PLUGIN_POLICY_CONSTANTS_H_ */
