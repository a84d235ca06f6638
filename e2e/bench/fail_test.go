package main

import (
	"errors"
	"io"
	"testing"
)

func TestTry_ReturnsFailureOnly(t *testing.T) {
	// A failed check ends the function with its error; a bug is not taken for one.
	t.Parallel()
	reached := false
	err := try(func() {
		if must(7, nil) != 7 {
			t.Error("must changed the value")
		}
		check(nil, io.ErrUnexpectedEOF)
		reached = true
	})
	if !errors.Is(err, io.ErrUnexpectedEOF) || reached {
		t.Errorf("%v, continued: %v", err, reached)
	}
	if err := try(func() { check(nil) }); err != nil {
		t.Error(err)
	}
	defer func() {
		if recover() != "bug" {
			t.Error("another panic was recovered")
		}
	}()
	_ = try(func() { panic("bug") })
}
