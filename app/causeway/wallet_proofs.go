package main

import (
	"slices"
	"strings"

	"causeway/adapters/walletproofs/real"
	sandboxproofs "causeway/adapters/walletproofs/sandbox"
	"causeway/core/platform"
	"causeway/ports"
)

// issuerFlags say whose ID tokens customers of embedded wallets may sign in with.
type issuerFlags struct {
	OIDCIssuers []string `name:"oidc-issuers" env:"CAUSEWAY_OIDC_ISSUERS" default:"https://accounts.google.com,https://appleid.apple.com" help:"Providers of ID tokens (OpenID Connect) with which customers can sign in to embedded wallets: the URLs in their iss claim, with https, or with http for a loopback address." placeholder:"URL"`
}

const maxIssuers = 20

func (f issuerFlags) checkIssuers(refuse func(setting, must string, got any)) {
	for _, issuer := range f.OIDCIssuers {
		if err := real.CheckIssuer(issuer); err != nil {
			refuse("--oidc-issuers (CAUSEWAY_OIDC_ISSUERS)", strings.TrimPrefix(err.Error(), "must be "), issuer)
		}
	}
	if len(f.OIDCIssuers) > maxIssuers || len(slices.Compact(slices.Sorted(slices.Values(f.OIDCIssuers)))) != len(f.OIDCIssuers) {
		refuse("--oidc-issuers (CAUSEWAY_OIDC_ISSUERS)", "at most 20 different URLs", strings.Join(f.OIDCIssuers, ","))
	}
}

// newWalletProofs creates what checks the proofs of customers, by the environment of the platform.
func (f issuerFlags) newWalletProofs() ports.WalletProofsByEnvironment {
	genuine := real.New(real.Options{Issuers: f.OIDCIssuers})
	return ports.WalletProofsByEnvironment{
		platform.Sandbox: sandboxproofs.New(f.OIDCIssuers, genuine), platform.Production: genuine,
	}
}
