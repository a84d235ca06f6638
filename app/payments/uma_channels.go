package payments

import (
	"context"
	"time"

	"causeway/app/internal/uow"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/lightning"
	"causeway/core/platform"
	"causeway/core/transaction"
	"causeway/core/uma"
	"causeway/ports"
)

const (
	// reportChannelsFor is how long after a payment its other provider is tried to be reached with the channels that were used.
	reportChannelsFor = 24 * time.Hour
	// minReportDelay is the pause after the first attempt. Later ones are as long as all before together.
	minReportDelay = time.Minute
)

// reportChannels reports the channels that payments have used to their other providers, which have asked for that. A provider that
// is not reached is tried for a day: nothing depends on it.
func (s *Service) reportChannels(ctx context.Context, jobs []ports.Job) error {
	keys := uow.TransactionKeys(jobs)
	read, err := s.Store.TransactionsByKey(ctx, keys)
	if err != nil {
		return err
	}
	var again []ports.TransactionKey
	for key, t := range read {
		switch err := s.reportChannelsOf(ctx, t); {
		case err == nil:
		case s.Clock.Now().Sub(t.SettledAt) < reportChannelsFor:
			again = append(again, key)
		default:
			s.Log.WithError(err).WithField("transaction", t.ID.String()).Warn("the channels of a UMA payment are not reported to its other provider")
		}
	}
	return s.settle(ctx, jobs, again, func(w work, t transaction.Transaction) error {
		w.EnqueueAt(t.Platform, transaction.StepReportChannels, t.ID.UUID(), w.Now.Add(max(w.Now.Sub(t.SettledAt), minReportDelay)))
		return nil
	})
}

func (s *Service) reportChannelsOf(ctx context.Context, t transaction.Transaction) error {
	on, err := s.Store.Platform(ctx, t.Platform)
	if err != nil || t.UMA == nil {
		return err
	}
	others, connected := s.Counterparties[on.Environment]
	if !connected || s.Lightning == nil {
		return nil
	}
	node, err := s.Lightning.LightningFor(ctx, on.ID)
	if err != nil {
		return err
	}
	knows, is := node.(ports.LightningChannels)
	if !is {
		return nil // such a node does not say
	}
	var channels []uma.ChannelUse
	if t.Type == transaction.Incoming {
		channels, err = knows.ReceivedOver(ctx, t.ID.UUID())
	} else {
		var invoice lightning.Invoice
		if invoice, err = lightning.ParseInvoice(t.UMA.Invoice); err == nil {
			channels, err = knows.PaidOver(ctx, invoice.PaymentHash)
		}
	}
	if err != nil || len(channels) == 0 {
		return err
	}
	return others.ReportChannels(ctx, on, t.UMA.Callback, channels[:min(len(channels), uma.MaxChannels)])
}

// TakeUMAChannels keeps what the other provider of a payment, whose domain is that of a verified message, reports of its channels. What
// it has reported first stays. The error is a uma.Refusal if there is no such payment with it.
func (s *Service) TakeUMAChannels(ctx context.Context, on platform.Platform, id ident.Transaction, domain string,
	channels []uma.ChannelUse) error {
	if err := uma.CheckChannels(channels); err != nil {
		return err
	}
	t, err := s.Store.Transaction(ctx, on.ID, id)
	if err != nil && !fault.Is(err, fault.TransactionNotFound) {
		return err
	}
	other := t.Source.UMA
	if t.Type == transaction.Outgoing {
		other = t.Destination.UMA
	}
	if _, of := customer.SplitUMAAddress(other); err != nil || t.UMA == nil || of != domain {
		return uma.Refuse(uma.InvalidInput, "there is no such payment with "+domain)
	}
	return s.Store.SaveUMAChannels(ctx, transactionKey(t), channels, s.Clock.Now())
}
