package ports

import "errors"

// ErrStoreUnavailable is returned while the store refuses all work, for example because its disk is
// full or no server accepts connections. It says nothing about the work that was tried.
var ErrStoreUnavailable = errors.New("the store is not available")
