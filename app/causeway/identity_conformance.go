package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"causeway/adapters/cli"
	"causeway/adapters/identity/provider"
	"causeway/adapters/identity/provider/conformance"
)

type identityCommand struct {
	Conformance identityConformanceCommand `cmd:"" help:"Drive the test environment of an identity provider through its contract, docs/identity-provider.md, with invented customers, and print which rules it follows. Exits 1 if it breaks one."`
}

type identityConformanceCommand struct {
	URL         string        `name:"url" required:"" help:"Base URL of the provider's test environment: https, or http for a loopback address." placeholder:"URL"`
	TokenFile   string        `required:"" help:"File with the token that is sent to the provider." placeholder:"PATH" type:"path"`
	SecretFile  string        `required:"" help:"File with the secret with which the provider signs its decisions." placeholder:"PATH" type:"path"`
	Listen      string        `default:"127.0.0.1:0" help:"Address and port to listen on for the provider's decisions. Port 0 is a free one." placeholder:"ADDRESS"`
	CallbackURL string        `name:"callback-url" help:"Where the provider reaches that address. Default: http:// and the address, which a provider on this machine reaches." placeholder:"URL"`
	Timeout     time.Duration `default:"30s" help:"Maximum time to wait for a decision."`
}

// Run prints a line for each rule, and returns an error if one is broken.
func (c identityConformanceCommand) Run(ctx context.Context, env *cli.Env) error {
	token, err := readSecretFile("--token-file", c.TokenFile)
	if err != nil {
		return err
	}
	text, err := readSecretFile("--secret-file", c.SecretFile)
	if err != nil {
		return err
	}
	secrets, err := provider.ParseSecrets(text)
	if err != nil {
		return fmt.Errorf("--secret-file: %w", err)
	}
	if c.Timeout <= 0 {
		return fmt.Errorf("--timeout must be positive, not %s", c.Timeout)
	}
	listener, err := listen(ctx, "--listen", c.Listen)
	if err != nil {
		return err
	}
	defer listener.Close()
	callbackURL := c.CallbackURL
	if callbackURL == "" {
		callbackURL = "http://" + listener.Addr().String() + provider.CallbackPath
	}
	suite, err := conformance.New(conformance.Options{URL: c.URL, Token: token, Secrets: secrets, CallbackURL: callbackURL,
		Clock: systemClock{}, Timeout: c.Timeout})
	if err != nil {
		return fmt.Errorf("--url or --token-file: %w", err)
	}
	server := &http.Server{Handler: suite, ReadTimeout: 20 * time.Second, WriteTimeout: 20 * time.Second, MaxHeaderBytes: 32 << 10}
	go func() { _ = server.Serve(listener) }() // until Close; without it the suite reports that no message arrives
	defer server.Close()
	return printConformance(ctx, env.Out, suite)
}

func printConformance(ctx context.Context, out io.Writer, suite *conformance.Suite) error {
	p := rulePrinter{out: out, width: 13}
	broken := suite.Run(ctx, func(r conformance.Result) { p.print(r.Rule, r.Text, r.Err) })
	return p.end(ctx, "provider", broken)
}

// readSecretFile returns the content of a file that a flag names, without white space around it.
func readSecretFile(flag, path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("%s: %w", flag, err)
	}
	return strings.TrimSpace(string(text)), nil
}
