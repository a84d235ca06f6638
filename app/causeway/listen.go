package main

import (
	"context"
	"fmt"
	"time"

	"causeway/adapters/apiclient"
	"causeway/adapters/cli"
	"causeway/adapters/http/api"
	"causeway/core/event"
)

type listenCommand struct {
	tokenFlags
	ForwardTo string   `name:"forward-to" help:"Send each webhook on to this URL, unchanged, and print what it responds. A program that refuses the connection is tried again for 10 seconds." placeholder:"URL"`
	Events    []string `help:"Only these events, such as OUTGOING_PAYMENT.COMPLETED. Default: all." placeholder:"LIST"`
	PrintJSON bool     `name:"print-json" help:"Also print the body of each webhook."`
}

// Help is printed below the help of the command.
func (listenCommand) Help() string {
	return "The webhooks are signed as those to the platform's endpoint, which still receives its own. The token needs the permission " +
		"MANAGE. While webhooks are sent on, the URL's response to INCOMING_PAYMENT.PENDING approves or rejects the payment, and " +
		"the endpoint is not asked. Ctrl-C ends it."
}

// Run prints webhooks until ctx is done.
func (c listenCommand) Run(ctx context.Context, env *cli.Env) error {
	if err := apiclient.UnknownNames(c.Events, eventNames()); err != nil {
		return fmt.Errorf("--events: %w", err)
	}
	var forwarder *apiclient.Forwarder
	if c.ForwardTo != "" {
		var err error
		if forwarder, err = apiclient.NewForwarder(c.ForwardTo); err != nil {
			return fmt.Errorf("--forward-to %w", err)
		}
	}
	client, err := c.client()
	if err != nil {
		return err
	}
	listener := &apiclient.Listener{Client: client, Events: c.Events, Answers: forwarder != nil && apiclient.AsksForAnswer(c.Events...)}
	if err := listener.Start(ctx); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(env.ErrOut, "Listening to webhooks of %s; Ctrl-C ends it.\n", client.BaseURL); err != nil {
		return err
	}
	return follow(ctx, env, func(ctx context.Context) error {
		return listener.Poll(ctx, func(w apiclient.SignedWebhook) error { return c.show(ctx, env, listener, forwarder, w) })
	})
}

// show prints a webhook, and forwards it.
func (c listenCommand) show(ctx context.Context, env *cli.Env, listener *apiclient.Listener, forwarder *apiclient.Forwarder,
	w apiclient.SignedWebhook) error {
	result := ""
	if forwarder != nil {
		response, err := forwarder.Forward(ctx, w)
		switch {
		case ctx.Err() != nil:
			result = "  not forwarded: interrupted"
		case err != nil:
			result = fmt.Sprintf("  not forwarded: %v", err)
		default:
			result = fmt.Sprintf("  %d in %d ms", response.Status, response.Duration.Milliseconds())
			if !event.OutcomeOf(response.Status).Delivered() && len(response.Body) > 0 {
				result += fmt.Sprintf(": %.200q", response.Body)
			}
			if apiclient.AsksForAnswer(w.Event) {
				result += answer(ctx, listener, w, response)
			}
		}
	}
	_, err := fmt.Fprintf(env.Out, "%s  %-34s %s  [%s]%s\n", w.CreatedAt.UTC().Format("15:04:05.000"), w.Event, w.Resource(), w.WebhookID,
		result)
	if err == nil && c.PrintJSON {
		_, err = fmt.Fprintf(env.Out, "%s\n", w.Body)
	}
	return err
}

// answer gives the response to the service, and says what becomes of the payment.
func answer(ctx context.Context, listener *apiclient.Listener, w apiclient.SignedWebhook, response *apiclient.Response) string {
	status, err := listener.Answer(ctx, w, response)
	if err != nil {
		return fmt.Sprintf("  not answered: %v", err)
	}
	return "  the payment is " + status
}

// eventNames returns the names of all events, in the order of the registry.
func eventNames() []string {
	var names []string
	for _, kind := range api.Events {
		names = append(names, kind.Names...)
	}
	return names
}

// followInterval is the time between two polls, and maxFollowInterval that after a slow one.
const (
	followInterval    = time.Second
	maxFollowInterval = 5 * time.Second
)

// follow polls until ctx is done. Temporary failures are printed, the first of several in a row, and survived; a poll that takes
// long is followed by a longer pause, so that the service is not kept busy.
func follow(ctx context.Context, env *cli.Env, poll func(context.Context) error) error {
	failing := false
	for ctx.Err() == nil {
		start := time.Now()
		err := poll(ctx)
		switch {
		case ctx.Err() != nil: // what the end of ctx has caused
		case err != nil && !apiclient.IsTemporary(err):
			return err
		case err != nil && !failing:
			fmt.Fprintf(env.ErrOut, "%v; trying again\n", err)
		case err == nil && failing:
			fmt.Fprintln(env.ErrOut, "The service responds again; nothing was lost.")
		}
		failing = err != nil
		select {
		case <-ctx.Done():
		case <-time.After(min(max(followInterval, 2*time.Since(start)), maxFollowInterval)):
		}
	}
	return nil
}
