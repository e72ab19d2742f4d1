// Package sqlsnowtest checks that worker leases of
// [github.com/shardsnow/snow/sqlsnow], and segments of
// [github.com/shardsnow/snow/sqlsnow/segments], keep their contract on a
// database: a server, its settings and its driver. A test calls [Run], or
// [RunSegments].
//
// The tests move rows into the past instead of waiting, so the suite takes
// seconds. This is the contract of leases; each clause is a subtest with its
// number:
//
//  1. Migrate makes the tables. Called again, also by several at once, it
//     changes nothing.
//  2. Without Migrate, every call returns ErrNotMigrated and says what to call.
//  3. Without Init, every call returns ErrNoNamespace and says what to call.
//  4. Called again, also by several at once and while numbers are leased, Init
//     changes nothing.
//  5. Init fills in defaults: as many workers as the layout has, up to 1,024, 10
//     min, 30 s, no loss.
//  6. Init with another layout or other constants returns ErrNamespaceMismatch
//     and changes nothing.
//  7. Init refuses bad fields with a FieldError.
//  8. Names of namespaces differ by case, and have up to 64 characters.
//  9. Namespaces in one database do not touch each other.
//  10. A read-only database is ErrReadOnly, but Workers can read it.
//  11. A database that does not sync what it confirms is ErrNotDurable.
//  12. No number is taken and no window renewed on a session that does not sync,
//     whatever earlier sessions did.
//  13. A window begins at the later of now and the number's former ceiling, and
//     has the namespace's length.
//  14. A number is taken only when its window, claim or release is over. A
//     reserved number is never taken.
//  15. If no number is free, Acquire returns a NoWorkerError with how many are
//     live and cooling, and until when.
//  16. Acquire refuses bad numbers and fields with a FieldError and takes
//     nothing.
//  17. Ids carry the datacenter and the worker number of the lease, which Stats
//     shows.
//  18. A hundred processes that acquire at once get different numbers and
//     different ids.
//  19. Of several processes that want the last number, one gets it.
//  20. A number that changed after it was found free is not taken.
//  21. An Acquire whose context ends keeps no number.
//  22. An Acquire whose answer is lost fails, or gets a number with another
//     statement.
//  23. The holder's name is stored as valid UTF-8 of at most 255 characters.
//  24. Workers shows every number with its state, holder, fence and times.
//  25. A renewal is one statement, after a check of the session, and extends the
//     window to its full length from now.
//  26. A lease whose number was given to another process is displaced: it swaps
//     to a free number, and ids ascend.
//  27. The owner, not the fence, says whose number it is.
//  28. A lease whose ceiling went back sets it again and swaps to another
//     number.
//  29. The lease does not set the ceiling if it is higher by then, or another
//     holder's.
//  30. A lease that the database has forgotten, or whose number was reserved,
//     swaps to another number.
//  31. A lease whose row is gone swaps to another number.
//  32. A lease that lost its number and finds no other one makes ids to the end
//     of its window, and again once it has a number.
//  33. A renewal whose answer is lost does not count.
//  34. A renewal that arrives late does not touch the next holder's row.
//  35. A release that arrives late does not touch the next holder's row.
//  36. Close ends the generator before it waits for a renewal under way, and
//     frees the number.
//  37. A lease that got no answer for longer than its window goes on if nobody
//     took the number.
//  38. If another process took it, the lease swaps to another number.
//  39. Close ends the generator, lowers the ceiling to what was used and frees
//     the number. Called again, it returns the same.
//  40. Close gives back a window without ids.
//  41. Close keeps the ticks that were borrowed from the future.
//  42. The next holder's ids are greater than the former one's.
//  43. Without the database, ids go on to the end of the window or until Close,
//     which returns an error.
//  44. Close with a context that has ended ends the generator and frees the
//     number.
//  45. If a pinned number is held, Acquire returns a HeldError when the context
//     ends, and nobody else gets the number.
//  46. A pinned number is handed over when its holder closes.
//  47. A pinned number is handed over when its holder is gone and the window is
//     over.
//  48. A pinned lease that lost its number ends and takes no other number.
//  49. A pinned lease whose ceiling went back sets it again and takes no other
//     number.
//  50. With a LossWindow, the constants cover the commits that may be lost.
//  51. With a LossWindow, a number is claimed, granted after the probation, and
//     raised in steps.
//  52. With a LossWindow, the database grants after the probation and within the
//     time of a claim.
//  53. With a LossWindow, a claim that another process took is left alone.
//  54. With a LossWindow, the first window of a claim that was fenced does not
//     begin before the fence.
//  55. With a LossWindow, an Acquire whose context ends leaves at most its
//     claim, and does not touch another's.
//  56. With a LossWindow, the database refuses a renewal that comes too soon
//     after another one.
//  57. With a LossWindow, a displaced lease gets another number after a
//     probation.
//  58. With a LossWindow, a window that is over is not renewed: the lease gets
//     another number.
//  59. Fence raises every ceiling to a window and two minutes from now; leases
//     with longer windows go on, and nobody gets a number before that.
//  60. Settings of driver and session make no difference.
//  61. Whatever leases do, windows of one number never overlap, and ids stay
//     inside them.
//  62. Reserve takes the highest number that was never leased or fenced, for
//     ever, and the same number for the same holder.
//  63. If many processes reserve at once, processes with the same holder get the
//     same number, and different holders get different numbers.
//  64. A Reserve whose answer is lost fails, and the next one for the holder
//     leaves it with one number.
//  65. Reserve on a replica is ErrReadOnly, and on a session that does not sync
//     ErrNotDurable.
//  66. With a LossWindow, Reserve returns after a probation, with a number that
//     the database still remembers.
//  67. No id is made from the read of a ceiling that went back until the ceiling
//     is set again, and none if another process has the number by then.
//  68. If the ceiling is set again and no other number is free, ids go on to the
//     end of the window.
//  69. With a LossWindow, a lease makes no more ids if its number was given to
//     another process inside its window.
//  70. Close of a lease whose number is no longer its own returns a LostError,
//     and logs no release.
//  71. A release that the database did, but whose answer was lost, is not a
//     loss.
//  72. Nothing is written on a connection that was left in a transaction:
//     another one is taken, or it is a DatabaseError with InTransaction.
//  73. Migrate on a connection that was left in a transaction is a DatabaseError
//     with InTransaction. Migrate leaves no connection in one.
//  74. Rows that were deleted, and that Init makes anew, give no number before
//     the longest window is over.
//  75. Reclaim gives a holder a number that was never leased, also a fenced one,
//     and is a HeldError for others.
//
// The suite does not test wrong clocks, crashes of servers and failovers, which
// need servers that a test may kill.
//
// # Inside
//
//	sqlsnowtest.go                           Run, and the list of the clauses
//	schema.go acquire.go renew.go end.go     clauses of leases: tables, beginning, renewals and losses, end
//	pinned.go loss.go stop.go reserve.go     clauses of pinned numbers, a LossWindow, ids that stop, Reserve
//	sessions.go transaction.go random.go     clauses of sessions and transactions; random histories
//	segments.go                              RunSegments, and its clauses
//	segments_use.go segments_faults.go segments_giveback.go
//	holder.go space.go wire.go watch.go      a lease, a namespace, a driver with faults, and logs to check
package sqlsnowtest
