package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"causeway/adapters/cli"
	"causeway/adapters/rails/partner"
	"causeway/adapters/rails/partner/conformance"
	"causeway/adapters/secrets"
	"causeway/core/corridor"
	"causeway/core/money"
	"causeway/core/rail"
)

// railsCommand is the commands on connections, and the test of what a partner offers.
type railsCommand struct {
	cli.RailsCommand

	Conform      railsConformCommand      `cmd:"" help:"Drive the test environment of a sidecar through the partner contract, docs/partner-contract.md, with invented payments, and print which rules it follows. Needs no database. Exits 1 if it breaks one."`
	ConformNames railsConformNamesCommand `cmd:"" help:"Drive the test environment of a provider of name checks through its contract, docs/name-checks.md, with invented names, and print which rules it follows. Needs no database. Exits 1 if it breaks one."`
	ConformSMS   railsConformSMSCommand   `cmd:"" name:"conform-sms" help:"Drive the test environment of a provider of text messages through its contract, docs/sms.md, with invented numbers, and print which rules it follows. Needs no database. Exits 1 if it breaks one."`
}

type railsConformCommand struct {
	URL        string        `name:"url" required:"" help:"Base URL of the sidecar's test environment: https, or http for a loopback address." placeholder:"URL"`
	SecretFile string        `required:"" help:"File with the secret with which both sides sign, that other users cannot read." placeholder:"PATH" type:"path"`
	Kinds      []string      `default:"PAYOUT,COLLECTION,REFUND" enum:"PAYOUT,COLLECTION,REFUND" help:"What the sidecar can do. The first is used for all tests that need any." placeholder:"KIND"`
	Rail       string        `default:"RTP" help:"Rail of the payments." placeholder:"RAIL"`
	Currency   string        `default:"USD" help:"Currency of the payments." placeholder:"CURRENCY"`
	Account    string        `help:"JSON file with the account of the payments, as in the contract. Default: an invented US_ACCOUNT." placeholder:"PATH" type:"path"`
	Listen     string        `help:"Address and port to listen on for events that the sidecar sends. Without it, only listed events are tested." placeholder:"ADDRESS"`
	Timeout    time.Duration `default:"30s" help:"Maximum time to wait for what the sidecar does by itself."`
	Skip       []string      `help:"Names of rules that are not checked." placeholder:"RULE"`
	CAFile     string        `name:"ca-file" help:"Certificates in the PEM format that the sidecar's is signed with, in place of those of the system." placeholder:"PATH" type:"path"`
	PlainHTTP  bool          `name:"plain-http" help:"Allow http to other addresses than loopback ones."`
}

// Run prints a line for each rule, and returns an error if one is broken.
func (c railsConformCommand) Run(ctx context.Context, env *cli.Env) error {
	options, err := c.options()
	if err != nil {
		return err
	}
	suite, err := conformance.New(ctx, options)
	if err != nil {
		return err
	}
	if c.Listen != "" {
		listener, err := listen(ctx, "--listen", c.Listen)
		if err != nil {
			return err
		}
		server := &http.Server{Handler: suite, ReadTimeout: 20 * time.Second, WriteTimeout: 20 * time.Second, MaxHeaderBytes: 32 << 10}
		go func() { _ = server.Serve(listener) }() // until Close; without it the suite reports that no message arrives
		defer server.Close()
		if _, err := fmt.Fprintf(env.Out, "Let the sidecar send its events to %s\n", "http://"+listener.Addr().String()+
			strings.Replace(partner.CallbackPath, "{connection}", "test", 1)); err != nil {
			return err
		}
	}
	return printRules(ctx, env.Out, 17, "sidecar", suite.Run)
}

func (c railsConformCommand) options() (conformance.Options, error) {
	currency, err := money.ParseCurrency(c.Currency)
	switch {
	case err != nil:
		return conformance.Options{}, fmt.Errorf("--currency: %w", err)
	case !corridor.RailNamed(c.Rail).Known():
		return conformance.Options{}, fmt.Errorf("--rail: %q is not a known name, such as SEPA", c.Rail)
	case c.Timeout <= 0:
		return conformance.Options{}, fmt.Errorf("--timeout must be positive, not %s", c.Timeout)
	}
	o := conformance.Options{Connection: rail.Connection{Name: "test", Adapter: rail.Partner, Settings: map[string]string{"url": c.URL,
		"secret": "file:" + c.SecretFile}}, Secrets: secrets.New(), Clock: systemClock{}, Timeout: c.Timeout,
		Rail: c.Rail, Currency: currency, Account: conformance.DefaultAccount(), Sends: c.Listen != "", Skip: c.Skip}
	for _, k := range c.Kinds {
		o.Kinds = append(o.Kinds, partner.Kind(k))
	}
	if c.CAFile != "" {
		o.Connection.Settings["caFile"] = c.CAFile
	}
	if c.PlainHTTP {
		o.Connection.Settings["plainHttp"] = "allow"
	}
	if c.Account == "" {
		return o, nil
	}
	o.Account, err = readTestAccount(c.Account)
	return o, err
}

// readTestAccount returns the account of a file that --account names.
func readTestAccount(path string) (partner.Account, error) {
	var a partner.Account
	text, err := os.ReadFile(path)
	if err != nil {
		return a, fmt.Errorf("--account: %w", err)
	}
	if err := json.Unmarshal(text, &a); err != nil || a.Type == "" {
		return a, errors.New("--account: the file must have a JSON object with type, currency and fields, as account in docs/partner-contract.md")
	}
	return a, nil
}

// printRules runs a suite and prints its results; width is that of the longest name of a rule.
func printRules(ctx context.Context, out io.Writer, width int, subject string,
	run func(context.Context, func(conformance.Result)) (failed int)) error {
	p := rulePrinter{out: out, width: width}
	broken := run(ctx, func(r conformance.Result) {
		if r.Skipped {
			p.skip(r.Rule, r.Text)
		} else {
			p.print(r.Rule, r.Text, r.Err)
		}
	})
	return p.end(ctx, subject, broken)
}
