package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"causeway/adapters/cli/table"
	"causeway/app/rails"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/proposal"
	"causeway/core/rail"
	"causeway/core/transaction"
	"causeway/ports"
)

// PayoutsCommand decides about payments that wait.
type PayoutsCommand struct {
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

// waitingArgs select payments.
type waitingArgs struct {
	DatabaseFlags
	listFlags
	Connection string `help:"Only payments of this connection." placeholder:"NAME"`
}

func (c waitingArgs) list(ctx context.Context, env *Env, columns []string, row func(*table.Table, rail.Payment), none string,
	states ...rail.State) error {
	if err := c.check(); err != nil {
		return err
	}
	return c.withRails(ctx, env, func(service *rails.Service) error {
		var waiting []rail.Payment
		for _, state := range states {
			found, err := service.Waiting(ctx, state, c.Connection, c.Limit+1)
			if err != nil {
				return err
			}
			waiting = append(waiting, found...)
		}
		return printList(env, c.listFlags, waiting, nil, listing[rail.Payment]{columns: columns, row: row, none: none, more: moreOfConnection})
	})
}

// moreOfConnection is said of a list that --connection narrows.
const moreOfConnection = "There are more. Narrow the list with --connection, or raise --limit."

var waitingColumns = []string{"payment", "kind", ">amount", "rail", "connection", "state", "since", "waits because"}

func addWaiting(t *table.Table, p rail.Payment) {
	t.Add(paymentName(p), p.Kind, p.Amount, p.Rail, table.OrDash(p.Connection), p.State, table.Minute(p.RecordedAt), p.Reason)
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

func (c payoutsListCommand) Run(ctx context.Context, env *Env) error {
	return c.list(ctx, env, waitingColumns, addWaiting, "No payment waits.", rail.InReview, rail.Queued)
}

type payoutsReviewCommand struct{ waitingArgs }

func (c payoutsReviewCommand) Run(ctx context.Context, env *Env) error {
	return c.list(ctx, env, waitingColumns, addWaiting, "No payment waits for a review.", rail.InReview)
}

type payoutsQueueCommand struct{ waitingArgs }

func (c payoutsQueueCommand) Run(ctx context.Context, env *Env) error {
	return c.list(ctx, env, waitingColumns, addWaiting, "No payment waits in a queue.", rail.Queued)
}

type payoutsUnsettledCommand struct{ waitingArgs }

func (c payoutsUnsettledCommand) Run(ctx context.Context, env *Env) error {
	columns := []string{"payment", "kind", ">amount", "rail", "connection", "handed over", "left", "partner's id|partner_id"}
	return c.list(ctx, env, columns, func(t *table.Table, p rail.Payment) {
		t.Add(paymentName(p), p.Kind, p.Amount, p.Rail, p.Connection, table.Minute(p.HandedOverAt), table.Minute(p.SentAt),
			table.OrDash(p.PartnerID))
	}, "Every payment that was handed over is settled.", rail.HandedOver, rail.Sent)
}

type payoutsShowCommand struct {
	DatabaseFlags
	outputFlag
	ID string `arg:"" name:"id" help:"Id of the transaction or receipt, or the end-to-end id of the payment."`
}

func (c payoutsShowCommand) Run(ctx context.Context, env *Env) error {
	id, err := parsePaymentID(c.ID)
	if err != nil {
		return err
	}
	return c.withRails(ctx, env, func(service *rails.Service) error {
		payments, err := service.Payments(ctx, id)
		if err != nil && len(payments) == 0 {
			return err
		}
		page := table.Page{Keyed: true}
		for _, p := range payments {
			page.Record(strings.ToLower(string(p.Kind)), paymentRecord(p))
		}
		return errors.Join(c.print(env, &page), err)
	})
}

func paymentRecord(p rails.Decided) *table.Record {
	r := table.NewRecord("payment", paymentName(p.Payment))
	add := func(name string, value table.Cell) {
		if value.Value != nil && value.Text != "" {
			r.Add(name, value)
		}
	}
	add("kind", table.CellOf(p.Kind))
	add("state", table.CellOf(p.State))
	reason := "reason"
	if p.State.CanBeStopped() {
		reason = "waits because"
	}
	add(reason, table.CellOf(p.Reason))
	add("amount", table.CellOf(p.Amount))
	add("rail", table.CellOf(p.Rail))
	add("connection", table.CellOf(p.Connection))
	add("platform", table.CellOf(p.Platform))
	add("end-to-end id", table.CellOf(rail.EndToEndID(p.ID)))
	add("partner's id", table.CellOf(p.PartnerID))
	add("last reply", table.CellOf(lastReply(p.Said)))
	add("recorded", table.Minute(p.RecordedAt))
	add("handed over", table.Minute(p.HandedOverAt))
	add("left", table.Minute(p.SentAt))
	add("settled", table.Minute(p.SettledAt))
	add("returned", table.Minute(p.ReturnedAt))
	for _, d := range p.Decisions {
		r.Add(strings.ToLower(string(d.Decision)),
			fmt.Sprintf("%s by %s: %s (it was %s: %s)", formatMinute(d.At), d.Actor, d.Note, d.Payment.State, d.Payment.Reason))
	}
	return r
}

// lastReply returns a reply with the partner's code, what that means, and its words; empty if there is none.
func lastReply(r ports.RailReply) string {
	if r.Verdict == "" {
		return ""
	}
	said := formatMinute(r.At) + " " + string(r.Verdict)
	if r.Code != "" {
		said += " " + table.Printable(r.Code)
	}
	switch meaning := transaction.PayoutRefusal(r.Code).Meaning; {
	case meaning != "":
		said += " (" + meaning + ")"
	case transaction.IsUnknownCode(r.Code):
		said += " (no standard has this code)"
	}
	if r.Text != "" {
		said += ": " + table.Printable(r.Text)
	}
	return said
}

type payoutArgs struct {
	DatabaseFlags
	ID string `arg:"" name:"id" help:"Id of the transaction or receipt, as listed, or the end-to-end id of the payment."`
	noteFlag
	actorFlag
}

// decide makes a decision about the payment, and prints what that did.
func (c payoutArgs) decide(ctx context.Context, env *Env,
	decide func(*rails.Service, context.Context, uuid.UUID, rails.Author) (rail.Payment, error), done func(rail.Payment) string) error {
	id, err := parsePaymentID(c.ID)
	if err != nil {
		return err
	}
	return c.changeRails(ctx, env, c.DatabaseFlags, c.actorFlag, func(service *rails.Service, by rails.Author) error {
		p, err := decide(service, ctx, id, by)
		return env.say(settingErrors("nothing was changed", err), "%s of %s %s\n", paymentName(p), p.Amount, done(p))
	})
}

// always returns what is said of every payment that a decision was made about.
func always(done string) func(rail.Payment) string { return func(rail.Payment) string { return done } }

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

func (c payoutsReleaseCommand) Run(ctx context.Context, env *Env) error {
	var waits *proposal.Proposal
	return c.decide(ctx, env, func(s *rails.Service, ctx context.Context, id uuid.UUID, by rails.Author) (rail.Payment, error) {
		done, err := s.Release(ctx, id, by)
		if waits = done.Proposal; err != nil || waits == nil {
			return done.Done, err
		}
		shown, err := s.Payments(ctx, id)
		return shown[0].Payment, err
	}, func(rail.Payment) string {
		if waits != nil {
			return "needs the approval of a second person: " + waits.ID.String() + ". See: causeway ledger proposals"
		}
		return "is released. It is sent within seconds, unless it now waits for money; see: causeway payouts queue"
	})
}

type payoutsCancelCommand struct{ payoutArgs }

func (c payoutsCancelCommand) Run(ctx context.Context, env *Env) error {
	return c.decide(ctx, env, (*rails.Service).Cancel, always("is cancelled. What was paid for it is refunded."))
}

type payoutsWithdrawCommand struct{ payoutArgs }

func (c payoutsWithdrawCommand) Run(ctx context.Context, env *Env) error {
	return c.decide(ctx, env, (*rails.Service).Withdraw,
		always("is withdrawn, and waits for a review. Go on with: causeway payouts release, move or cancel"))
}

type payoutsMoveCommand struct {
	payoutArgs
	To string `required:"" help:"Name of the connection that gets the payment." placeholder:"NAME"`
}

func (c payoutsMoveCommand) Run(ctx context.Context, env *Env) error {
	return c.decide(ctx, env, func(s *rails.Service, ctx context.Context, id uuid.UUID, by rails.Author) (rail.Payment, error) {
		return s.Move(ctx, id, c.To, by)
	}, always("is now one of "+c.To+". See: causeway payouts queue"))
}

type payoutsMarkNotSentCommand struct{ payoutArgs }

func (c payoutsMarkNotSentCommand) Run(ctx context.Context, env *Env) error {
	return c.decide(ctx, env, (*rails.Service).MarkNotSent, func(p rail.Payment) string {
		if p.State != rail.Cancelled {
			return "is reported as not sent. Nothing changes until another person confirms it within 24 hours, with the same command after " +
				"causeway login."
		}
		return "is cancelled, because it was not sent. What was paid for it is refunded."
	})
}
