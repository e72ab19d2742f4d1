package plan

// guide is the comment at the beginning of a file.
const guide = `# How a database gets snow keys in place. Read it, answer the questions, change what is not right, and run it with snow convert run.
#
#   questions     columns that look like references, and that no foreign key declares, and keys that no database counts.
#                 Write widen or leave beside each. Columns to widen become BIGINT. What is left stays as it is: if it has
#                 ids of rows all the same, the first snow id does not fit, and the program gets an error.
#   key           the column whose new values are snow ids. Remove it where a table keeps its small numbers; leave the table in
#                 the plan, so that it is guarded.
#   columns       the columns that become BIGINT. Unsigned ones stay unsigned.
#   method        none: nothing to widen. online: writers go on while the rows are copied. alter: one ALTER TABLE, which
#                 blocks writers until it is done; why says why. Tables of one group change together, by one method on MySQL.
#   guards        other tables that the server numbers: an AUTO_INCREMENT of this plan must not leak into them.
#   before, after what the programs must do before the first snow id, and after the last old program.
#   notes         what else names the columns. Nothing changes it by itself.
#   rows, bytes   what the server estimates. seconds: the copy, at the speed at which a sample was read.
#   steps         what a run does. It makes them anew from the rest: changes here have no effect.
#
# Ids do not change: rows keep the ones they have. To number old rows anew, merge the database into a new one (snow merge).
`
