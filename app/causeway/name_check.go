package main

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/sirupsen/logrus"

	"causeway/adapters/beneficiaries/unsupported"
	"causeway/adapters/cli"
	"causeway/adapters/rails/partner"
	"causeway/adapters/rails/partner/conformance"
	"causeway/adapters/secrets"
	"causeway/core/rail"
	"causeway/core/signedmessage"
	"causeway/ports"
)

// nameCheckFlags say who checks the names of the beneficiaries of production platforms.
type nameCheckFlags struct {
	NameCheckURL      string        `name:"name-check-url" env:"CAUSEWAY_NAME_CHECK_URL" help:"Base URL of a provider that checks the names of beneficiaries for production platforms, as docs/name-checks.md describes it: https, or http for a loopback address. Without it no name is checked." placeholder:"URL"`
	NameCheckSecret   string        `name:"name-check-secret" env:"CAUSEWAY_NAME_CHECK_SECRET" secret:"" help:"With --name-check-url: secret with which requests are signed, whsec_ and base64. During a rotation the new and the old one, separated by a comma." placeholder:"SECRET"`
	NameCheckTimeout  time.Duration `name:"name-check-timeout" env:"CAUSEWAY_NAME_CHECK_TIMEOUT" default:"5s" help:"With --name-check-url: how long the answer of the provider is waited for."`
	NameCheckRequired bool          `name:"name-check-required" env:"CAUSEWAY_NAME_CHECK_REQUIRED" help:"With --name-check-url: register no account while the provider does not answer. Without it the account is registered, and says that its name was not checked."`
}

// checkNameCheck reports invalid values with the name of their setting, and none of a secret.
func (f nameCheckFlags) checkNameCheck(refuse func(setting, must string, got any)) {
	const url, secret = "--name-check-url (CAUSEWAY_NAME_CHECK_URL)", "--name-check-secret (CAUSEWAY_NAME_CHECK_SECRET)"
	if !checkProvider(refuse, url, f.NameCheckURL, secret, f.NameCheckSecret) {
		if f.NameCheckRequired {
			refuse("--name-check-required (CAUSEWAY_NAME_CHECK_REQUIRED)", "left out without "+url, true)
		}
		return
	}
	if f.NameCheckTimeout < time.Second || f.NameCheckTimeout > 20*time.Second {
		refuse("--name-check-timeout (CAUSEWAY_NAME_CHECK_TIMEOUT)", "from 1s to 20s", f.NameCheckTimeout)
	}
}

// openNameCheck returns what checks the names of beneficiaries of production platforms.
func (a *app) openNameCheck(ids ports.IDs) (ports.Beneficiaries, error) {
	if a.NameCheckURL == "" {
		return unsupported.Beneficiaries{}, nil
	}
	signed, err := signedmessage.Parse(a.NameCheckSecret)
	if err != nil {
		return nil, err
	}
	took := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "causeway_name_check_seconds", Help: "Duration of questions to the provider of name checks, by result.",
		Buckets: []float64{0.05, 0.2, 0.5, 1, 2, 5, 20},
	}, []string{"result"})
	a.metrics.MustRegister(took)
	took.WithLabelValues(string(partner.NameCheckFailed))
	return partner.NewNameChecker(partner.NameCheckConfig{URL: a.NameCheckURL, Secrets: signed, Timeout: a.NameCheckTimeout,
		Required: a.NameCheckRequired, Clock: systemClock{}, IDs: ids, Log: logrus.NewEntry(a.log),
		Asked: func(result partner.NameCheckStatus, d time.Duration) {
			took.WithLabelValues(string(result)).Observe(d.Seconds())
		}})
}

// conformProviderFlags say which provider is tested.
type conformProviderFlags struct {
	URL        string        `name:"url" required:"" help:"Base URL of the provider's test environment: https, or http for a loopback address." placeholder:"URL"`
	SecretFile string        `required:"" help:"File with the secret with which requests are signed, that other users cannot read." placeholder:"PATH" type:"path"`
	Within     time.Duration `default:"5s" help:"How soon every request has to be answered."`
	Skip       []string      `help:"Names of rules that are not checked." placeholder:"RULE"`
}

func (c conformProviderFlags) options() (conformance.ProviderOptions, error) {
	if c.Within <= 0 {
		return conformance.ProviderOptions{}, fmt.Errorf("--within must be positive, not %s", c.Within)
	}
	return conformance.ProviderOptions{Connection: rail.Connection{Name: "test", Adapter: rail.Partner, Settings: map[string]string{
		"url": c.URL, "secret": "file:" + c.SecretFile}}, Secrets: secrets.New(), Clock: systemClock{}, Within: c.Within, Skip: c.Skip}, nil
}

type railsConformNamesCommand struct {
	conformProviderFlags
	Account string `help:"JSON file with the account that names are checked for, as in the contract. Default: an invented US_ACCOUNT." placeholder:"PATH" type:"path"`
}

// Run prints a line for each rule, and returns an error if one is broken.
func (c railsConformNamesCommand) Run(ctx context.Context, env *cli.Env) error {
	o, err := c.options()
	if err != nil {
		return err
	}
	account := conformance.DefaultAccount()
	if c.Account != "" {
		if account, err = readTestAccount(c.Account); err != nil {
			return err
		}
	}
	suite, err := conformance.NewNames(ctx, o, account)
	if err != nil {
		return err
	}
	return printRules(ctx, env.Out, 13, "provider", suite.Run)
}
