package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"causeway/adapters/cli"
	httpapi "causeway/adapters/http"
	"causeway/adapters/pgembed"
	"causeway/core/ident"
)

type openCommand struct {
	tokenFlags
	What      string `arg:"" optional:"" help:"Id of a transaction, quote, customer, account, posting or webhook, a reference, a UMA address, or your id of a customer. Default: the platform."`
	NoBrowser bool   `name:"no-browser" help:"Only print the URL."`
}

// Help is printed below the help of the command.
func (openCommand) Help() string {
	return "The URL is printed too. With the data folder of a running causeway dev, the browser is signed in; otherwise the console asks " +
		"for the password."
}

// Run opens the page, and prints its URL.
func (c openCommand) Run(ctx context.Context, env *cli.Env) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	var settings struct{ ID string }
	if err := client.Call(ctx, http.MethodGet, "/config", nil, &settings); err != nil {
		return err
	}
	p, err := ident.ParsePlatform(settings.ID)
	if err != nil {
		return fmt.Errorf("%s is no service of this API: %w", client.BaseURL, err)
	}
	what := strings.TrimSpace(c.What)
	if _, err := ident.ParseQuote(what); err == nil { // the console shows the payment of a quote
		var quote struct{ TransactionID string }
		if err := client.Call(ctx, http.MethodGet, "/quotes/"+what, nil, &quote); err != nil {
			return err
		}
		what = quote.TransactionID
	}
	site := strings.TrimSuffix(client.BaseURL, httpapi.BasePath)
	page := cli.ConsolePage(p, what)
	address := site + page
	if link := c.signedIn(ctx, env); link != "" {
		address = cli.ConsoleLink(site, link) + "?next=" + url.QueryEscape(page)
	}
	if _, err := fmt.Fprintln(env.Out, address); err != nil || c.NoBrowser {
		return err
	}
	if err := openBrowser(ctx, address); err != nil {
		fmt.Fprintf(env.ErrOut, "No browser was opened: %v\n", err)
	}
	return nil
}

// signedIn returns the token of a link that signs a developer in, if the database is that of a developer and runs.
func (c openCommand) signedIn(ctx context.Context, env *cli.Env) string {
	if c.BaseURL != "" {
		return ""
	}
	if _, running := pgembed.RunningURL(c.Data); !running {
		return ""
	}
	services, err := env.Open(ctx, cli.DatabaseFlags{DataFlag: c.DataFlag}, cli.Access{Work: cli.AsRequest})
	if err != nil {
		return ""
	}
	defer func() { _ = services.Close() }()
	link, err := services.People().Developer(ctx)
	if err != nil {
		return ""
	}
	return link.Token
}

// browserTimeout is how long a program may take to hand a URL to a browser. Some run as long as the browser.
const browserTimeout = 2 * time.Second

// openBrowser hands a URL to the browser.
func openBrowser(ctx context.Context, address string) error {
	program := []string{"xdg-open"}
	switch {
	case runtime.GOOS == "darwin":
		program = []string{"open"}
	case runtime.GOOS == "windows":
		program = []string{"rundll32", "url.dll,FileProtocolHandler"}
	case os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "":
		return errors.New("there is no display; open the URL yourself")
	}
	command := exec.Command(program[0], append(program[1:], address)...) //nolint:gosec,noctx // the browser outlives this program
	if err := command.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	select {
	case err := <-ended:
		return err
	case <-time.After(browserTimeout):
	case <-ctx.Done():
	}
	return nil
}
