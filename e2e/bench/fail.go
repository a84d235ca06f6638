package main

import (
	"errors"
	"fmt"
)

// failure is the error that ends a run. A measurement is a long sequence of calls of which any
// may fail, so in this program an error is a panic, which try recovers.
type failure struct{ error }

// check ends the run if there is an error.
func check(errs ...error) {
	if err := errors.Join(errs...); err != nil {
		panic(failure{err})
	}
}

// must returns the value, or ends the run.
func must[T any](value T, err error) T {
	check(err)
	return value
}

func failf(format string, args ...any) { panic(failure{fmt.Errorf(format, args...)}) }

// try calls a function and returns the error that ended it. Every goroutine has one of its own.
func try(do func()) (err error) {
	defer func() {
		switch reason := recover().(type) {
		case nil:
		case failure:
			err = reason.error
		default:
			panic(reason)
		}
	}()
	do()
	return nil
}
