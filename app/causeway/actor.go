package main

import (
	"os/user"

	"github.com/alecthomas/kong"

	"causeway/adapters/ids"
	"causeway/core/ident"
	"causeway/core/platform"
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

// action returns the record of what the command does to what name says: of a platform, or of the
// whole service if it is zero.
func (f actorFlag) action(kind platform.OperatorActionKind, p ident.Platform, name string) (platform.OperatorAction, error) {
	actor, err := platform.ParseActor(f.Actor)
	if err != nil {
		return platform.OperatorAction{}, fieldErrors("nothing was changed", err)
	}
	now := systemClock{}.Now()
	return platform.OperatorAction{ID: ids.New().New(now), Platform: p, Kind: kind, Name: name, Actor: actor, At: now}, nil
}
