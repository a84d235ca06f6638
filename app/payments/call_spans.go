package payments

import (
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"causeway/app/internal/spans"
	"causeway/app/internal/uow"
	"causeway/core/transaction"
	"causeway/ports"
)

// callSpans are the spans of payments about which a job calls rails: of the job, until its outcome is committed, and of the call
// in it. A job of several payments has a span in the trace of each. It is nil if none is traced.
type callSpans map[ports.TransactionKey]*callSpan

type callSpan struct{ job, call trace.Span }

// startCall starts the spans of a payment, and replaces its place in the trace by that of the call, for the rail. began is when
// the job did.
func (s *Service) startCall(started *callSpans, began time.Time, call ports.RailCall, t *transaction.Transaction) {
	if t.Trace == "" {
		return
	}
	rail := t.DestinationRail
	if call != ports.CallSend && call != ports.CallStatus {
		rail = t.SourceRail
	}
	about := trace.WithAttributes(spans.Platform(t.Platform.String()), attribute.String("causeway.transaction", t.ID.String()))
	inJob, job := s.Spans.Resume(t.Trace, "job", trace.WithSpanKind(trace.SpanKindConsumer), trace.WithTimestamp(began), about)
	inCall, span := s.Spans.Resume(inJob, "rail "+string(call), trace.WithSpanKind(trace.SpanKindClient), about,
		trace.WithAttributes(attribute.String("causeway.rail", string(rail))))
	if inCall == "" {
		return
	}
	t.Trace = inCall
	if *started == nil {
		*started = callSpans{}
	}
	(*started)[transactionKey(*t)] = &callSpan{job, span}
}

// endCalls ends the spans of the calls, with their outcomes.
func (c callSpans) endCalls(outcomes map[ports.TransactionKey]ports.Outcome) {
	for key, span := range c {
		o := outcomes[key]
		span.call.SetAttributes(attribute.String("causeway.verdict", string(o.Verdict)))
		if o.Connection != "" {
			span.call.SetAttributes(attribute.String("causeway.connection", o.Connection))
		}
		if o.Code != "" {
			span.call.SetAttributes(attribute.String("causeway.partner_code", o.Code))
		}
		if o.Verdict == ports.Unknown {
			span.call.SetStatus(codes.Error, "")
		}
		span.call.End()
	}
}

// endJobs ends the spans of the jobs, which have failed with an error.
func (c callSpans) endJobs(jobs []ports.Job, err error) {
	if c == nil {
		return
	}
	for _, j := range jobs {
		for _, key := range uow.TransactionKeys([]ports.Job{j}) {
			if span, traced := c[key]; traced {
				span.job.SetName("job " + string(j.Step))
				span.job.SetAttributes(attribute.String("causeway.job", j.ID.String()), attribute.Int("causeway.job.attempts", j.Attempts))
				spans.End(span.job, err)
			}
		}
	}
}
