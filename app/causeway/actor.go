package main

import (
	"os/user"

	"github.com/alecthomas/kong"
)

// actorFlag names the operator in the records of what a command changes.
type actorFlag struct {
	Actor string `help:"Who does it; recorded with the change. Default: the user of the operating system." placeholder:"NAME"`
}

// AfterApply sets the default.
func (f *actorFlag) AfterApply(*kong.Context) error {
	if f.Actor != "" {
		return nil
	}
	if current, err := user.Current(); err == nil {
		f.Actor = current.Username
	}
	return nil
}
