package main

import (
	"fmt"
	"net/http"
	"os"

	"github.com/sirupsen/logrus"

	httpapi "causeway/adapters/http"
	"causeway/adapters/uma"
	"causeway/core/corridor"
	"causeway/core/customer"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/rail"
	rules "causeway/core/uma"
	"causeway/ports"
)

// umaFlags say with which UMA providers payments are exchanged.
type umaFlags struct {
	UMAAllow        []string `name:"uma-allow" env:"CAUSEWAY_UMA_ALLOW" help:"Domains of the only UMA providers with which production platforms exchange payments, without their subdomains. Default: all that are not blocked." placeholder:"DOMAIN"`
	UMACertificates []string `name:"uma-certificates" env:"CAUSEWAY_UMA_CERTIFICATES" help:"PEM files, each with the certificate of a UMA key of a platform and its chain, that of the key first. Default: the keys are published without certificates." placeholder:"FILE"`
	UMABlock        []string `name:"uma-block" env:"CAUSEWAY_UMA_BLOCK" help:"Domains of UMA providers with which production platforms exchange no payments, with their subdomains." placeholder:"DOMAIN"`
}

// checkUMA reports invalid values with the name of their setting.
func (f umaFlags) checkUMA(refuse func(setting, must string, got any)) {
	for setting, domains := range map[string][]string{"--uma-allow (CAUSEWAY_UMA_ALLOW)": f.UMAAllow,
		"--uma-block (CAUSEWAY_UMA_BLOCK)": f.UMABlock} {
		for _, domain := range domains {
			if parsed, ok := customer.ParseUMADomain(domain); !ok || parsed != domain {
				refuse(setting, "domains in lower case and ASCII, such as uma.example.com or xn--bcher-kva.example", domain)
			}
		}
	}
	if _, err := f.umaCertificates(); err != nil {
		refuse("--uma-certificates (CAUSEWAY_UMA_CERTIFICATES)", "files of certificates (PEM)", err)
	}
}

// umaCertificates reads the certificates of keys of platforms.
func (f umaFlags) umaCertificates() ([]uma.CertificateChain, error) {
	chains := make([]uma.CertificateChain, len(f.UMACertificates))
	for i, path := range f.UMACertificates {
		text, err := os.ReadFile(path)
		if err == nil {
			chains[i], err = uma.ReadCertificateChain(text)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return chains, nil
}

func (f umaFlags) umaPolicy() rules.Policy {
	return rules.Policy{Allowed: f.UMAAllow, Blocked: f.UMABlock}
}

// newUMA returns the providers of production platforms, whose payments take a connection to a Lightning node.
func (a *app) newUMA(rails ports.Rails, ids ports.IDs) *uma.Provider {
	certificates, _ := a.umaCertificates() // they were checked with the settings
	return uma.New(uma.Config{Store: a.db, Certificates: certificates, Client: uma.NewClient(a.reachTestHosts), Policy: a.umaPolicy(),
		Clock: systemClock{}, IDs: ids, Log: logrus.NewEntry(a.log),
		Settles: func(p ident.Platform) error {
			return rails.Carries(rail.Route{Platform: p, Rail: corridor.Lightning, Currency: money.BTC})
		}})
}

var (
	// umaRate is the rate limit of requests from one address, which is that of a provider.
	umaRate = httpapi.Rate{PerSecond: 50, Burst: 500}
	// walletRate is that of payments of wallets, which anybody can begin, and which ask the platform for approval.
	walletRate = httpapi.Rate{PerSecond: 0.5, Burst: 20}
)

// mountUMA adds the paths that other UMA providers call, at the domains of production platforms.
func (a *app) mountUMA(server *httpapi.API) {
	refused := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) })
	answers := uma.Server{Provider: a.uma, Receivers: a.receivers, Payments: a.payments}
	answers.Register(server.Mount, server.LimitByAddress(umaRate, refused), server.LimitByAddress(walletRate, refused))
}
