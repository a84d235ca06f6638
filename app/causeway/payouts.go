package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/google/uuid"

	"causeway/app/rails"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/rail"
	"causeway/core/transaction"
	"causeway/ports"
)

// payoutsCommand decides about payments that wait.
type payoutsCommand struct {
	List      payoutsListCommand      `cmd:"" help:"List all payments that wait: in review and in the queues."`
	Review    payoutsReviewCommand    `cmd:"" help:"List the payments that are above a limit and wait for a review, oldest first."`
	Queue     payoutsQueueCommand     `cmd:"" help:"List the payments that wait for money, an opening, a resumption or a connection, in the order in which they are sent."`
	Unsettled payoutsUnsettledCommand `cmd:"" help:"List the payments that were handed over and are not settled: those that can still be stopped, and those that have left and that the partner has not said to be done or refused."`
	Show      payoutsShowCommand      `cmd:"" help:"Show the payments of a transaction or receipt: the connection, the partner's id, code and words, and who decided about them and why."`
	Release   payoutsReleaseCommand   `cmd:"" help:"Let a payment go on: from review, or from the queue although its account cannot cover it, its rail is closed or older ones wait."`
	Cancel    payoutsCancelCommand    `cmd:"" help:"Cancel a payout that has not left. What the customer paid is refunded."`
	Withdraw  payoutsWithdrawCommand  `cmd:"" help:"Take a payment that has not left back from its connection. It waits for a review, until it is released, moved or cancelled."`
	Move      payoutsMoveCommand      `cmd:"" help:"Give a payout that has not left to another connection, in whose queue it is then."`

	MarkNotSent payoutsMarkNotSentCommand `cmd:"" help:"Record that a payout was not sent, although it has left by the records. When a second person confirms it with the same command within 24 hours, it is cancelled, and what the customer paid is refunded. If it was sent after all, the money is lost: ask the partner first."`
}

type waitingArgs struct {
	databaseFlags
	Connection string `help:"Only payments of this connection." placeholder:"NAME"`
	Limit      int    `default:"100" help:"Maximum number of payments, from 1 to 10000."`
}

func (c waitingArgs) write(ctx context.Context, out io.Writer, none string, states ...rail.State) error {
	return c.writeWith(ctx, out, none, writeWaiting, states...)
}

func (c waitingArgs) writeWith(ctx context.Context, out io.Writer, none string, writeTable func(io.Writer, []rail.Payment) error, states ...rail.State) error {
	if err := checkLimit(c.Limit); err != nil {
		return err
	}
	return c.withRails(ctx, func(service *rails.Service) error {
		var waiting []rail.Payment
		for _, state := range states {
			found, err := service.Waiting(ctx, state, c.Connection, c.Limit+1)
			if err != nil {
				return err
			}
			waiting = append(waiting, found...)
		}
		if len(waiting) == 0 {
			_, err := fmt.Fprintln(out, none)
			return err
		}
		if err := writeTable(out, waiting[:min(len(waiting), c.Limit)]); err != nil || len(waiting) <= c.Limit {
			return err
		}
		_, err := fmt.Fprintln(out, "There are more. Narrow the list with --connection, or raise --limit.")
		return err
	})
}

func writeWaiting(out io.Writer, waiting []rail.Payment) error {
	t := table{rightAligned: []int{2}}
	for _, p := range waiting {
		connection := p.Connection
		if connection == "" {
			connection = "-"
		}
		t.add(paymentName(p), string(p.Kind), p.Amount.String(), string(p.Rail), connection, string(p.State), formatMinute(p.RecordedAt), p.Reason)
	}
	return t.write(out, "payment", "kind", "amount", "rail", "connection", "state", "since", "waits because")
}

// paymentName returns the id of the transaction or receipt.
func paymentName(p rail.Payment) string {
	if p.Kind == rail.SendBack {
		var id ident.Receipt
		id.SetUUID(p.ID)
		return id.String()
	}
	var id ident.Transaction
	id.SetUUID(p.ID)
	return id.String()
}

type payoutsListCommand struct{ waitingArgs }

func (c payoutsListCommand) Run(ctx context.Context, out io.Writer) error {
	return c.write(ctx, out, "No payment waits.", rail.InReview, rail.Queued)
}

type payoutsReviewCommand struct{ waitingArgs }

func (c payoutsReviewCommand) Run(ctx context.Context, out io.Writer) error {
	return c.write(ctx, out, "No payment waits for a review.", rail.InReview)
}

type payoutsQueueCommand struct{ waitingArgs }

func (c payoutsQueueCommand) Run(ctx context.Context, out io.Writer) error {
	return c.write(ctx, out, "No payment waits in a queue.", rail.Queued)
}

type payoutsUnsettledCommand struct{ waitingArgs }

func (c payoutsUnsettledCommand) Run(ctx context.Context, out io.Writer) error {
	return c.writeWith(ctx, out, "Every payment that was handed over is settled.", func(out io.Writer, handedOver []rail.Payment) error {
		t := table{rightAligned: []int{2}}
		for _, p := range handedOver {
			partnerID := "-"
			if p.PartnerID != "" {
				partnerID = printable(p.PartnerID)
			}
			t.add(paymentName(p), string(p.Kind), p.Amount.String(), string(p.Rail), p.Connection, minuteOrNone(p.HandedOverAt), minuteOrNone(p.SentAt), partnerID)
		}
		return t.write(out, "payment", "kind", "amount", "rail", "connection", "handed over", "left", "partner's id")
	}, rail.HandedOver, rail.Sent)
}

func minuteOrNone(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return formatMinute(t)
}

type payoutsShowCommand struct {
	databaseFlags
	ID string `arg:"" name:"id" help:"Id of the transaction or receipt, or the end-to-end id of the payment."`
}

func (c payoutsShowCommand) Run(ctx context.Context, out io.Writer) error {
	id, err := parsePaymentID(c.ID)
	if err != nil {
		return err
	}
	return c.withRails(ctx, func(service *rails.Service) error {
		payments, err := service.Payments(ctx, id)
		for _, p := range payments {
			if err := writePayment(out, p); err != nil {
				return err
			}
		}
		return err
	})
}

func writePayment(out io.Writer, p rails.Decided) error {
	var t table
	add := func(name, value string) {
		if value != "" {
			t.add(name, value)
		}
	}
	when := func(name string, at time.Time) {
		if !at.IsZero() {
			t.add(name, formatMinute(at))
		}
	}
	add("kind", string(p.Kind))
	add("state", string(p.State))
	reason := "reason"
	if p.State.CanBeStopped() {
		reason = "waits because"
	}
	add(reason, p.Reason)
	add("amount", p.Amount.String())
	add("rail", string(p.Rail))
	add("connection", p.Connection)
	add("platform", p.Platform.String())
	add("end-to-end id", rail.EndToEndID(p.ID))
	add("partner's id", p.PartnerID)
	add("last reply", lastReply(p.Said))
	when("recorded", p.RecordedAt)
	when("handed over", p.HandedOverAt)
	when("left", p.SentAt)
	when("settled", p.SettledAt)
	when("returned", p.ReturnedAt)
	for _, d := range p.Decisions {
		t.add(strings.ToLower(string(d.Decision)), fmt.Sprintf("%s by %s: %s (it was %s: %s)", formatMinute(d.At), d.Actor, d.Note, d.Payment.State, d.Payment.Reason))
	}
	return t.write(out, "payment", paymentName(p.Payment))
}

// lastReply returns a reply with the partner's code, what that means, and its words; empty if there is none.
func lastReply(r ports.RailReply) string {
	if r.Verdict == "" {
		return ""
	}
	said := formatMinute(r.At) + " " + string(r.Verdict)
	if r.Code != "" {
		said += " " + printable(r.Code)
	}
	switch meaning := transaction.PayoutRefusal(r.Code).Meaning; {
	case meaning != "":
		said += " (" + meaning + ")"
	case transaction.IsUnknownCode(r.Code):
		said += " (no standard has this code)"
	}
	if r.Text != "" {
		said += ": " + printable(r.Text)
	}
	return said
}

type payoutArgs struct {
	databaseFlags
	ID string `arg:"" name:"id" help:"Id of the transaction or receipt, as listed, or the end-to-end id of the payment."`
	noteFlag
	actorFlag
}

func (c payoutArgs) decide(ctx context.Context, out io.Writer, done string, decide func(*rails.Service) func(context.Context, uuid.UUID, rails.Author) (rail.Payment, error)) error {
	id, err := parsePaymentID(c.ID)
	if err != nil {
		return err
	}
	return c.withRails(ctx, func(service *rails.Service) error {
		p, err := decide(service)(ctx, id, c.by(c.actorFlag))
		if err != nil {
			return settingErrors("nothing was changed", err)
		}
		_, err = fmt.Fprintf(out, "%s of %s %s\n", paymentName(p), p.Amount, done)
		return err
	})
}

// parsePaymentID parses the id of a transaction or receipt, with or without its prefix, or an end-to-end id.
func parsePaymentID(text string) (uuid.UUID, error) {
	if id, ok := rail.SubjectOf(text); ok {
		return id, nil
	}
	_, plain, prefixed := strings.Cut(text, ":")
	if !prefixed {
		plain = text
	}
	id, err := uuid.Parse(plain)
	if err != nil {
		return id, fault.New(fault.InvalidInput, "%.100q is not the id of a payment. List those that wait with: causeway payouts list", text)
	}
	return id, nil
}

type payoutsReleaseCommand struct{ payoutArgs }

func (c payoutsReleaseCommand) Run(ctx context.Context, out io.Writer) error {
	return c.decide(ctx, out, "is released. It is sent within seconds, unless it now waits for money; see: causeway payouts queue",
		func(s *rails.Service) func(context.Context, uuid.UUID, rails.Author) (rail.Payment, error) {
			return s.Release
		})
}

type payoutsCancelCommand struct{ payoutArgs }

func (c payoutsCancelCommand) Run(ctx context.Context, out io.Writer) error {
	return c.decide(ctx, out, "is cancelled. What was paid for it is refunded.",
		func(s *rails.Service) func(context.Context, uuid.UUID, rails.Author) (rail.Payment, error) {
			return s.Cancel
		})
}

type payoutsWithdrawCommand struct{ payoutArgs }

func (c payoutsWithdrawCommand) Run(ctx context.Context, out io.Writer) error {
	return c.decide(ctx, out, "is withdrawn, and waits for a review. Go on with: causeway payouts release, move or cancel",
		func(s *rails.Service) func(context.Context, uuid.UUID, rails.Author) (rail.Payment, error) {
			return s.Withdraw
		})
}

type payoutsMoveCommand struct {
	payoutArgs
	To string `required:"" help:"Name of the connection that gets the payment." placeholder:"NAME"`
}

func (c payoutsMoveCommand) Run(ctx context.Context, out io.Writer) error {
	return c.decide(ctx, out, "is now one of "+c.To+". See: causeway payouts queue",
		func(s *rails.Service) func(context.Context, uuid.UUID, rails.Author) (rail.Payment, error) {
			return func(ctx context.Context, id uuid.UUID, by rails.Author) (rail.Payment, error) {
				return s.Move(ctx, id, c.To, by)
			}
		})
}

type payoutsMarkNotSentCommand struct{ payoutArgs }

func (c payoutsMarkNotSentCommand) Run(ctx context.Context, out io.Writer) error {
	id, err := parsePaymentID(c.ID)
	if err != nil {
		return err
	}
	return c.withRails(ctx, func(service *rails.Service) error {
		p, err := service.MarkNotSent(ctx, id, c.by(c.actorFlag))
		if err != nil {
			return settingErrors("nothing was changed", err)
		}
		done := "is cancelled, because it was not sent. What was paid for it is refunded."
		if p.State != rail.Cancelled {
			done = "is reported as not sent. Nothing changes until another person confirms it within 24 hours, with the same command and their own --actor."
		}
		_, err = fmt.Fprintf(out, "%s of %s %s\n", paymentName(p), p.Amount, done)
		return err
	})
}

// settingErrors lists the bad fields of a file or of a request.
func settingErrors(outcome string, err error) error {
	f, ok := fault.As(err)
	if !ok || len(f.Fields) == 0 {
		return err
	}
	lines := []string{outcome + ":"}
	for _, field := range f.Fields {
		lines = append(lines, "  "+field.Field+" "+field.Message)
	}
	return errors.New(strings.Join(lines, "\n"))
}
