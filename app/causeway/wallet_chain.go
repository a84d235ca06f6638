package main

import (
	"causeway/adapters/rails/chain"
	"causeway/adapters/rails/sandbox"
	"causeway/adapters/rails/timeout"
	"causeway/core/platform"
	"causeway/ports"
)

// walletChainFlags select the chain of embedded wallets.
type walletChainFlags struct {
	WalletChain string `name:"wallet-chain" env:"CAUSEWAY_WALLET_CHAIN" default:"none" enum:"none,simulated" help:"Chain of the embedded wallets of production platforms without a connection for USDB: none or simulated. The simulated chain moves no coins: it is for test installations, and never for real money. Beside a connection for USDB it is refused. Sandbox platforms always have it."`
}

// walletChains returns the connected chains, whose calls end at the timeout. Only that of sandbox
// platforms knows test values.
func (a *app) walletChains() ports.WalletChainsByEnvironment {
	chains := ports.WalletChainsByEnvironment{platform.Sandbox: timeout.NewChain(chain.Chain{RefundFails: sandbox.RefundFails,
		Hash: sandbox.TransactionHash}, a.RailTimeout, a.log)}
	if a.WalletChain == "simulated" {
		a.log.Warn("CAUSEWAY_WALLET_CHAIN=simulated: payments of embedded wallets of production platforms move no coins. Never use this " +
			"installation for real money.")
		chains[platform.Production] = timeout.NewChain(chain.Chain{}, a.RailTimeout, a.log)
	}
	return chains
}
