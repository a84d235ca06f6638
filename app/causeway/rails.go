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

// railSelector chooses the rail of a platform by its environment, which never changes: so
// what was found once is kept.
type railSelector struct {
	store         ports.Store
	byEnvironment ports.RailsByEnvironment
	environments  sync.Map // ident.Platform to platform.Environment
}

func newRailSelector(store ports.Store, by ports.RailsByEnvironment) *railSelector {
	return &railSelector{store: store, byEnvironment: by}
}

// railsByEnvironment are the rails that are connected: none for production.
func railsByEnvironment(clock ports.Clock, speed int) ports.RailsByEnvironment {
	return ports.RailsByEnvironment{platform.Sandbox: sandbox.New(clock, speed)}
}

// RailFor answers NOT_IMPLEMENTED where no partner is connected, as for production.
func (r *railSelector) RailFor(p ident.Platform) (ports.Rail, error) {
	known, ok := r.environments.Load(p)
	if !ok {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		found, err := r.store.Platform(ctx, p)
		if err != nil {
			return nil, err
		}
		known = found.Environment
		r.environments.Store(p, known)
	}
	if rail, connected := r.byEnvironment[known.(platform.Environment)]; connected {
		return rail, nil
	}
	return nil, fault.New(fault.NotImplemented, "No payment rail is connected for production platforms of this service yet. Use a sandbox platform.")
}
