package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/uuid"

	"causeway/adapters/apiclient"
	"causeway/adapters/apiclient/fixtures"
	"causeway/adapters/cli"
)

// sandboxCommand drives a sandbox platform over the API.
type sandboxCommand struct {
	Apply    sandboxApplyCommand     `cmd:"" help:"Make the requests of a file of fixtures: customers, accounts, payments. Applied again, it does nothing twice."`
	Reset    cli.SandboxResetCommand `cmd:"" help:"Empty the platform: a new one takes over its tokens and settings, and the old one is closed."`
	Expire   sandboxExpireCommand    `cmd:"" help:"Expire a quote that waits to be paid or executed, now."`
	Settle   sandboxSettleCommand    `cmd:"" help:"End the waiting of a payment for the simulated rail, with the outcome that its test value selects."`
	Return   sandboxReturnCommand    `cmd:"" help:"Make the beneficiary's bank return a payment that is completed, as one does after days."`
	TakeBack sandboxTakeBackCommand  `cmd:"" help:"Make the payer's bank take back what was collected for a payment, as one does after days."`
}

type sandboxApplyCommand struct {
	tokenFlags
	File string `arg:"" help:"File of YAML or JSON with the fixtures. Its name is part of what makes a fixture the same."`
}

// Run makes the requests of the file.
func (c sandboxApplyCommand) Run(ctx context.Context, env *cli.Env) error {
	file, err := os.Open(c.File)
	if err != nil {
		return err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, fixtures.MaxBytes+1))
	if err != nil {
		return err
	}
	name := filepath.Base(c.File)
	set, err := fixtures.Parse(strings.TrimSuffix(name, filepath.Ext(name)), text)
	if err != nil {
		return fmt.Errorf("%s, nothing was applied: %w", c.File, err)
	}
	client, err := c.client()
	if err != nil {
		return err
	}
	return set.Apply(ctx, client, func(done fixtures.Applied) {
		before := ""
		if done.Before {
			before = "  (applied before)"
		}
		fmt.Fprintf(env.Out, "%s  %s %s  %d  %s%s\n", done.Fixture.Name, done.Fixture.Method, done.Path, done.Status, done.ID, before)
	})
}

type sandboxExpireCommand struct {
	tokenFlags
	Quote string `arg:"" help:"Id of the quote."`
}

// Run expires the quote.
func (c sandboxExpireCommand) Run(ctx context.Context, env *cli.Env) error {
	return c.drive(ctx, env, "/sandbox/quotes/"+url.PathEscape(c.Quote)+"/expire")
}

// sandboxPaymentFlags name a payment.
type sandboxPaymentFlags struct {
	tokenFlags
	Transaction string `arg:"" help:"Id of the transaction."`
}

func (f sandboxPaymentFlags) act(ctx context.Context, env *cli.Env, action string) error {
	return f.drive(ctx, env, "/sandbox/transactions/"+url.PathEscape(f.Transaction)+"/"+action)
}

type sandboxSettleCommand struct{ sandboxPaymentFlags }

// Run settles the payment.
func (c sandboxSettleCommand) Run(ctx context.Context, env *cli.Env) error {
	return c.act(ctx, env, "settle")
}

type sandboxReturnCommand struct{ sandboxPaymentFlags }

// Run returns the payment.
func (c sandboxReturnCommand) Run(ctx context.Context, env *cli.Env) error {
	return c.act(ctx, env, "return")
}

type sandboxTakeBackCommand struct{ sandboxPaymentFlags }

// Run takes the collection back.
func (c sandboxTakeBackCommand) Run(ctx context.Context, env *cli.Env) error {
	return c.act(ctx, env, "take-back")
}

// drive makes one request without a body, and prints the status of what it returns.
func (f tokenFlags) drive(ctx context.Context, env *cli.Env, path string) error {
	client, err := f.client()
	if err != nil {
		return err
	}
	response, err := client.Do(ctx, apiclient.Request{Method: http.MethodPost, Path: path, IdempotencyKey: uuid.NewString()})
	if err != nil {
		return err
	}
	if err := response.Err(http.MethodPost, path); err != nil {
		return err
	}
	document, err := apiclient.ParseJSON(response.Body)
	if err != nil {
		return fmt.Errorf("the response to %s is not JSON: %w", path, err)
	}
	_, err = fmt.Fprintf(env.Out, "%s is %s.\n", apiclient.Text(document, "id"), apiclient.Text(document, "status"))
	return err
}
