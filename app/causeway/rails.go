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

// railSelector returns the rail of a platform by its environment. The environment of a
// platform never changes, so it is cached.
type railSelector struct {
	store         ports.Store
	byEnvironment ports.RailsByEnvironment
	environments  sync.Map // ident.Platform to platform.Environment
}

func newRailSelector(store ports.Store, by ports.RailsByEnvironment) *railSelector {
	return &railSelector{store: store, byEnvironment: by}
}

// railsByEnvironment returns the connected rails. There is none for production.
func railsByEnvironment(clock ports.Clock, speed int) ports.RailsByEnvironment {
	return ports.RailsByEnvironment{platform.Sandbox: sandbox.New(clock, speed)}
}

// RailFor returns NOT_IMPLEMENTED if no rail is connected, as for production platforms.
func (r *railSelector) RailFor(p ident.Platform) (ports.Rail, error) {
	environment, ok := r.environments.Load(p)
	if !ok {
		ctx, cancel := context.WithTimeout(ports.ForPlatform(context.Background(), p), 5*time.Second)
		defer cancel()
		found, err := r.store.Platform(ctx, p)
		if err != nil {
			return nil, err
		}
		environment = found.Environment
		r.environments.Store(p, environment)
	}
	if rail, connected := r.byEnvironment[environment.(platform.Environment)]; connected {
		return rail, nil
	}
	return nil, fault.New(fault.NotImplemented, "Payment rails for production platforms are not connected yet. Use a sandbox platform.")
}
