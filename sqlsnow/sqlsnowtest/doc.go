// Package sqlsnowtest checks that worker leases of
// [github.com/shardsnow/snow/sqlsnow] keep their contract on a database: a server,
// its settings and its driver. A test calls [Run].
//
// Time is let pass by moving rows into the past, so the suite takes seconds.
// The contract is this, and each clause is a subtest with its number:
//
//  1. Migrate makes the tables, and called again, by several at once, it changes
//     nothing.
//  2. Without Migrate every call returns ErrNotMigrated and says what to call.
//  3. Without Init every call returns ErrNoNamespace and says what to call.
//  4. Init again, by several at once and while numbers are leased, changes
//     nothing.
//  5. Init fills in defaults: 1,024 workers or what the layout has, 10 min, 30
//     s, no loss.
//  6. Init with another layout or other constants returns ErrNamespaceMismatch
//     and changes nothing.
//  7. Init refuses bad fields with a FieldError.
//  8. Names of namespaces differ by case, and have up to 64 characters.
//  9. Namespaces in one database do not touch each other.
//  10. A read-only database is ErrReadOnly, and Workers reads it.
//  11. A database that does not sync what it confirms is ErrNotDurable.
//  12. No number is taken and no window renewed on a session that does not sync,
//     whatever earlier ones did.
//  13. A window begins at the later of now and the number's former ceiling, and
//     has the namespace's length.
//  14. A number is taken only when its window, claim or release is over, a
//     reserved one never.
//  15. With no number free, Acquire returns a NoWorkerError with what is live,
//     what cools and until when.
//  16. Acquire refuses bad numbers and fields with a FieldError and takes
//     nothing.
//  17. Ids carry the datacenter and the worker number of the lease, which Stats
//     shows.
//  18. A hundred that acquire at once get different numbers and different ids.
//  19. Of several that want the last number one gets it.
//  20. A number that changed after it was found free is not taken on old
//     knowledge.
//  21. An Acquire whose context ends keeps no number.
//  22. An Acquire whose answer is lost fails, or has a number by another
//     statement.
//  23. The holder's name is stored as valid UTF-8 of at most 255 characters.
//  24. Workers shows every number with its state, holder, fence and times.
//  25. A renewal is one statement, after a look at the session, and extends the
//     window to its full length from now.
//  26. A lease whose number was given to another is displaced: it swaps to a free
//     number, and ids ascend.
//  27. The owner, not the fence, tells whose number it is.
//  28. A lease whose ceiling went back sets it again and swaps to another number.
//  29. It does not set a ceiling that is higher by then, or another holder's.
//  30. A lease that the database has forgotten, or whose number was reserved,
//     swaps to another number.
//  31. A lease whose row is gone swaps to another number.
//  32. A lease that lost its number and finds no other makes ids to the end of
//     its window, and again once it has one.
//  33. A renewal whose answer is lost is not counted upon.
//  34. A renewal that arrives late does not touch the next holder's row.
//  35. A release that arrives late does not touch the next holder's row.
//  36. Close ends the generator before it waits for a renewal under way, and
//     frees the number.
//  37. A lease that the database did not answer for longer than the window goes
//     on if nobody took the number.
//  38. If somebody took it, the lease swaps to another number.
//  39. Close ends the generator, lowers the ceiling to what was used, frees the
//     number, and again returns the same.
//  40. Close without a single id gives the window back.
//  41. Close keeps the ticks that were borrowed from the future.
//  42. The next holder's ids are greater than the former one's.
//  43. Close without a database returns an error and ends; ids flow to the end of
//     the window until then.
//  44. Close with a context that has ended ends the generator.
//  45. A pinned number that is held is a HeldError when the context ends, and
//     nobody else gets it.
//  46. A pinned number is handed over when its holder closes.
//  47. A pinned number is handed over when its holder is gone and the window
//     over.
//  48. A pinned lease that lost its number ends with its window and takes no
//     other.
//  49. A pinned lease whose ceiling went back sets it again and takes no other
//     number.
//  50. With a LossWindow, the constants cover the commits that may be lost.
//  51. With a LossWindow, a number is claimed, granted after the probation, and
//     raised in steps.
//  52. With a LossWindow, the database grants after the probation and within the
//     time of a claim.
//  53. With a LossWindow, a claim that another process took is left alone.
//  54. With a LossWindow, a claim that Fence came upon does not begin before the
//     fence.
//  55. With a LossWindow, an Acquire whose context ends leaves a claim at most,
//     and no other's.
//  56. With a LossWindow, the database refuses a renewal that comes too soon
//     after another one.
//  57. With a LossWindow, a displaced lease gets another number after a
//     probation.
//  58. With a LossWindow, a window that is over is not renewed: the lease gets
//     another number.
//  59. Fence raises every ceiling to a window from now or a little more; live
//     leases go on, and nobody gets a number before that.
//  60. Settings of driver and session make no difference.
//  61. Whatever leases do, windows of one number never overlap, and ids stay
//     inside them.
//  62. Reserve takes the highest number that was never leased nor fenced, for
//     ever, and the same one for the same holder.
//  63. Of many that reserve at once, those for one holder get one number, and each
//     holder another one.
//  64. A Reserve whose answer is lost fails, and the next one for the holder has
//     one number.
//  65. Reserve on a replica is ErrReadOnly, on a session that does not sync
//     ErrNotDurable.
//  66. With a LossWindow, Reserve returns after a probation what the database
//     still remembers.
//  67. Between the look at a ceiling that went back and its reassertion no id is
//     made, and none if another has the number by then.
//  68. Where the ceiling is set again and no other number is free, ids go on to
//     the end of the window.
//  69. With a LossWindow, a lease whose number was given to another inside its
//     window makes no more ids.
//  70. Close of a lease whose number is not its own any more returns a LostError,
//     and is not told as a release.
//  71. A release that the database did though its answer was lost is no loss.
//  72. On a connection that was left in a transaction nothing is written: another
//     one is taken, or it is ErrInTransaction.
//  73. Migrate on a connection that was left in a transaction is
//     ErrInTransaction, and leaves none in one.
//  74. Rows that were deleted and are made anew by Init give no number before the
//     longest window is over.
//
// What it can't see are clocks that are wrong, servers that crash and
// failovers: those need servers that the test may kill.
package sqlsnowtest
