package uow_test

import (
	"errors"
	"fmt"
	"testing"

	"causeway/app/internal/uow"
	"causeway/core/fault"
)

func TestRepeat(t *testing.T) {
	t.Parallel()
	// Work is repeated while what it rests on changes, three times at most. Any other error ends it.
	broken := errors.New("connection lost")
	changed := fmt.Errorf("post: %w", uow.ErrChanged)
	for name, test := range map[string]struct {
		results  []error
		attempts int
		want     error
	}{
		"at once":         {[]error{nil}, 1, nil},
		"changed once":    {[]error{changed, nil}, 2, nil},
		"another error":   {[]error{changed, broken}, 2, broken},
		"always changing": {[]error{changed, changed, changed, nil}, 3, &fault.Error{Code: fault.Conflict}},
	} {
		attempts := 0
		err := uow.Repeat(func() error {
			attempts++
			return test.results[attempts-1]
		})
		if !errors.Is(err, test.want) || attempts != test.attempts {
			t.Errorf("%s: %v after %d attempts", name, err, attempts)
		}
	}
}
