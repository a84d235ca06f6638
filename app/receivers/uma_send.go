package receivers

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"causeway/app/internal/jobs"
	"causeway/core/event"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/uma"
	"causeway/ports"
)

const (
	maxSending            = 16
	maxSendingPerPlatform = 4
	// sendTimeout is longer than another provider is asked.
	sendTimeout = 20 * time.Second
)

func (s *Service) newWorkers() *jobs.Workers {
	return jobs.New(jobs.Config{Jobs: s.Jobs, Clock: s.Clock, Log: s.Log, Retry: s.JobRetry, Metrics: s.JobMetrics},
		jobs.Handler{Step: ports.StepSendUMAInvoice, Do: s.sendInvoice, MaxBatch: 1, MaxConcurrency: maxSending,
			MaxPerPlatform: maxSendingPerPlatform, Timeout: sendTimeout})
}

// Run sends UMA invoices until ctx is done. Any number of processes may run it on one database.
func (s *Service) Run(ctx context.Context) { s.workers.Run(ctx) }

func (s *Service) sendJob(k uma.KeptInvoice, due time.Time) ports.Job {
	return ports.Job{ID: s.IDs.New(s.Clock.Now()), Platform: k.Platform, Step: ports.StepSendUMAInvoice,
		Subjects: []uuid.UUID{k.ID.UUID()}, Due: due}
}

// sendInvoice sends an invoice that was stored before, so that the provider of its sender never has one that is not known here. It is
// sent again until that provider has answered, or the invoice expires.
func (s *Service) sendInvoice(ctx context.Context, batch []ports.Job) error {
	job := batch[0]
	var id ident.UMAInvoice
	id.SetUUID(job.Subjects[0])
	kept, err := s.Store.UMAInvoice(ctx, job.Platform, id)
	if err != nil && !fault.Is(err, fault.NotFound) { // its customer was erased
		return err
	}
	waits := err == nil && kept.Delivery.Status == uma.DeliverySending
	var again time.Time
	var after []UMAInvoice
	if waits {
		stated, err := s.statedInvoices(ctx, kept)
		if err != nil {
			return err
		}
		if stated[0].Status == uma.InvoicePaid { // its sender has it without that
			kept.Delivery = uma.Delivery{Status: uma.DeliveryDelivered}
		} else {
			kept.Delivery, again = s.deliver(ctx, kept)
		}
		stated[0].KeptInvoice, after = kept, stated
	}
	return ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		if err := tx.FinishJobs(ctx, batch); err != nil || !waits {
			return err
		}
		if !again.IsZero() {
			return tx.AddJobs(ctx, []ports.Job{s.sendJob(kept, again)})
		}
		if err := tx.DeliverUMAInvoice(ctx, kept); err != nil || kept.Delivery.Status != uma.DeliveryRefused {
			return err
		}
		return s.emit(ctx, tx, event.UMAInvoiceRefused, after[0], s.Clock.Now())
	})
}

// deliver sends an invoice, and returns what became of that, or when it is sent again.
func (s *Service) deliver(ctx context.Context, kept uma.KeptInvoice) (uma.Delivery, time.Time) {
	err := s.Invoices.SendInvoice(ctx, kept)
	if err == nil {
		return uma.Delivery{Status: uma.DeliveryDelivered}, time.Time{}
	}
	if refused, is := errors.AsType[*uma.Refusal](err); is {
		return uma.RefusedDelivery(refused.Error()), time.Time{}
	}
	if again, intime := kept.SendAgain(s.Clock.Now()); intime {
		return kept.Delivery, again
	}
	return uma.RefusedDelivery("the provider of the sender was not reached before the invoice expired"), time.Time{}
}
