package main

import (
	"context"
	"sync"
	"time"

	"causeway/adapters/rails/sandbox"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

// rails chooses the rail of a platform by its environment, which never changes: so
// what was found once is kept.
type rails struct {
	store       ports.Store
	by          ports.RailsByEnvironment
	environment sync.Map // ident.Platform to platform.Environment
}

func newRails(store ports.Store, by ports.RailsByEnvironment) *rails {
	return &rails{store: store, by: by}
}

// railsBy are the rails that are connected: none for production.
func railsBy(clock ports.Clock, speed int) ports.RailsByEnvironment {
	return ports.RailsByEnvironment{platform.Sandbox: sandbox.New(clock, speed)}
}

// RailFor answers NOT_IMPLEMENTED where no partner is connected, as for production.
func (r *rails) RailFor(p ident.Platform) (ports.Rail, error) {
	known, ok := r.environment.Load(p)
	if !ok {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		found, err := r.store.Platform(ctx, p)
		if err != nil {
			return nil, err
		}
		known = found.Environment
		r.environment.Store(p, known)
	}
	if rail, connected := r.by[known.(platform.Environment)]; connected {
		return rail, nil
	}
	return nil, fault.New(fault.NotImplemented, "No payment rail is connected for production platforms of this service yet. Use a sandbox platform.")
}
