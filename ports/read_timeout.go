package ports

import "errors"

// ErrReadTimeout is returned by a list or a report that reads more than the time for one
// statement allows. A narrower request can succeed.
var ErrReadTimeout = errors.New("reading takes too long")
