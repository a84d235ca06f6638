package main

import (
	"context"
	"sync"
	"time"

	"causeway/app/internal/connections"
	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/rail"
	"causeway/ports"
)

// railSelector returns the rail of a platform by its environment. The environment of a
// platform never changes, so it is cached.
type railSelector struct {
	store         platformReader
	byEnvironment ports.RailsByEnvironment
	chains        ports.WalletChainsByEnvironment
	environments  sync.Map // ident.Platform to platform.Environment
}

type platformReader interface {
	Platform(ctx context.Context, id ident.Platform) (platform.Platform, error)
}

var _ ports.LightningNodes = (*railSelector)(nil)

func newRailSelector(store platformReader, by ports.RailsByEnvironment, chains ports.WalletChainsByEnvironment) *railSelector {
	return &railSelector{store: store, byEnvironment: by, chains: chains}
}

// railsByEnvironment returns the simulated rails of sandbox platforms, and the connections of production platforms.
func railsByEnvironment(simulated ports.Rail, connected *connections.Rail) ports.RailsByEnvironment {
	return ports.RailsByEnvironment{platform.Sandbox: simulated, platform.Production: connected}
}

// RailFor implements ports.Rails.
func (r *railSelector) RailFor(p ident.Platform) (ports.Rail, error) {
	environment, err := r.environment(p)
	if err != nil {
		return nil, err
	}
	if rail, connected := r.byEnvironment[environment]; connected {
		return rail, nil
	}
	return nil, fault.New(fault.NotImplemented, "There are no payment rails for %s platforms.", environment)
}

// router is implemented by rails whose payments take connections.
type router interface{ Carries(r rail.Route) error }

// Carries implements ports.Rails.
func (r *railSelector) Carries(route rail.Route) error {
	selected, err := r.RailFor(route.Platform)
	if err != nil {
		return err
	}
	if routed, ok := selected.(router); ok {
		return routed.Carries(route)
	}
	return nil
}

// LightningFor implements ports.LightningNodes. Sandbox platforms have no node.
func (r *railSelector) LightningFor(ctx context.Context, p ident.Platform) (ports.Lightning, error) {
	selected, err := r.RailFor(p)
	if err != nil {
		return nil, err
	}
	if nodes, ok := selected.(ports.LightningNodes); ok {
		return nodes.LightningFor(ctx, p)
	}
	return nil, rail.NoConnection(rail.Route{Platform: p, Rail: corridor.Lightning, Currency: money.BTC})
}

// ChainFor returns the chain of the wallets of a platform: the simulated one of sandboxes, and for production that of a connection. It
// returns NOT_IMPLEMENTED if there is none; and if there are two, as in a test installation with a connection for wallets, because what
// the simulated one has settled moved no coins.
func (r *railSelector) ChainFor(p ident.Platform) (ports.WalletChain, error) {
	environment, err := r.environment(p)
	if err != nil {
		return nil, err
	}
	simulated, connected := r.chains[environment]
	if environment != platform.Production {
		if connected {
			return simulated, nil
		}
		return nil, fault.New(fault.NotImplemented, "There is no chain of embedded wallets for %s platforms.", environment)
	}
	var real ports.WalletChain
	exists := false
	if connections, some := r.byEnvironment[environment].(walletConnections); some {
		real, exists, err = connections.WalletChain(p)
	}
	switch {
	case exists && connected:
		return nil, fault.New(fault.NotImplemented, "This service has a connection for embedded wallets and a simulated chain "+
			"(CAUSEWAY_WALLET_CHAIN=simulated). Ask its operator to unset that; until then wallets can neither pay nor be paid.")
	case exists:
		return real, err
	case connected:
		return simulated, nil
	}
	return nil, fault.New(fault.NotImplemented, "No chain of embedded wallets is connected for production platforms, so that wallets can "+
		"neither pay nor be paid. Use a sandbox platform.")
}

// walletConnections is implemented by rails whose payments take connections.
type walletConnections interface {
	WalletChain(p ident.Platform) (ports.WalletChain, bool, error)
}

func (r *railSelector) environment(p ident.Platform) (platform.Environment, error) {
	if known, ok := r.environments.Load(p); ok {
		return known.(platform.Environment), nil
	}
	ctx, cancel := context.WithTimeout(ports.ForPlatform(context.Background(), p), 5*time.Second)
	defer cancel()
	found, err := r.store.Platform(ctx, p)
	if err != nil {
		return "", err
	}
	r.environments.Store(p, found.Environment)
	return found.Environment, nil
}

// reachableBeneficiaries are those of accounts that connections can pay to.
type reachableBeneficiaries struct {
	ports.Beneficiaries
	rail interface {
		CheckAccount(a account.External) error
	}
}

// Verify implements ports.Beneficiaries. Fault: INVALID_INPUT for an account that no connection can pay to.
func (b reachableBeneficiaries) Verify(ctx context.Context, a account.External) (ports.Verification, error) {
	if err := b.rail.CheckAccount(a); err != nil {
		return ports.Verification{}, err
	}
	return b.Beneficiaries.Verify(ctx, a)
}
