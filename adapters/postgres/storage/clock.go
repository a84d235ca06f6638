package storage

import "fmt"

// Time returns SQL for the time of the database at which a statement began: it decides when a lease ends, and no clock of a process
// does. In sessions of tests that simulate the clock it is the argument $n, which holds the time of the process.
func Time(n int) string {
	return fmt.Sprintf(
		`(CASE WHEN current_setting('causeway.simulated_clock', true) = 'on' THEN $%d::timestamptz ELSE statement_timestamp() END)`, n)
}
