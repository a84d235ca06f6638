package mails

import (
	"context"
	"fmt"
	"time"

	"causeway/core/fault"
	"causeway/core/platform"
	"causeway/ports"
)

// noticeLifetime is how long a notice is tried to be sent: over a weekend.
const noticeLifetime = 72 * time.Hour

// Config is what a Queue needs.
type Config struct {
	IDs ports.IDs
	// Mailers and SMS are only asked whether an environment has one.
	Mailers ports.MailersByEnvironment
	SMS     ports.SMSSendersByEnvironment
	// From is the sender address of platforms that have set none.
	From string
	// MaxPerHour is the maximum number of codes by mail of a platform in each hour of the clock, and of notices, also by text message: who
	// uses up one limit keeps nobody from the other mails.
	MaxPerHour int
	// MaxSMSPerHour is that of codes by text message.
	MaxSMSPerHour int
}

// Queue adds mails and text messages to the queue.
type Queue struct{ Config }

// New returns a Queue.
func New(c Config) *Queue { return &Queue{c} }

// CheckAvailable returns NOT_IMPLEMENTED if the customers of a production platform cannot get mails,
// because no mailer is configured. The codes of a sandbox platform are known without mails.
func (q *Queue) CheckAvailable(p platform.Platform) error {
	if p.Environment == platform.Sandbox || q.Mailers[p.Environment] != nil {
		return nil
	}
	return fault.New(fault.NotImplemented,
		"This service cannot send e-mails. Ask its operator to set CAUSEWAY_SMTP_URL and CAUSEWAY_MAIL_FROM.")
}

// CheckSMSAvailable is CheckAvailable for text messages.
func (q *Queue) CheckSMSAvailable(p platform.Platform) error {
	if p.Environment == platform.Sandbox || q.SMS[p.Environment] != nil {
		return nil
	}
	return fault.New(fault.NotImplemented, "This service cannot send text messages. Ask its operator to set CAUSEWAY_SMS_URL.")
}

// Recipient is who gets a notice. What is not known is empty.
type Recipient struct{ Email, Phone string }

// AddNotice adds a notice: a mail to the address of its recipient, or a text message if there is none, or no mail server. See Add.
func (q *Queue) AddNotice(ctx context.Context, tx Tx, p platform.Platform, to Recipient, m Message, now time.Time) error {
	switch {
	case to.Email != "" && (q.Mailers[p.Environment] != nil || to.Phone == ""):
		return q.Add(ctx, tx, p, to.Email, m, now)
	case to.Phone != "":
		m.kind = m.kind.AsSMS()
		return q.Add(ctx, tx, p, to.Phone, m, now)
	}
	return nil
}

// Add adds a mail to an address, or a text message to a phone number, to the queue, unless the environment of the platform sends none. It
// returns RATE_LIMITED if the platform has sent as many in this hour as it may. Call it late in the
// unit of work: until that ends, further mails of the platform wait.
func (q *Queue) Add(ctx context.Context, tx Tx, p platform.Platform, to string, m Message, now time.Time) error {
	limit, sent, sends := q.MaxPerHour, "e-mails", q.Mailers[p.Environment] != nil
	if m.kind.IsSMS() {
		sent, sends = "text messages", q.SMS[p.Environment] != nil
	}
	if m.kind == ports.SMSCode {
		limit = q.MaxSMSPerHour
	}
	if !sends {
		return nil
	}
	hour := now.Truncate(time.Hour)
	n, err := tx.CountMail(ctx, p.ID, m.kind, hour)
	if err != nil {
		return err
	}
	if n > limit {
		return &fault.Error{
			Code: fault.RateLimited, Reason: "Too many " + sent, RetryAfter: max(hour.Add(time.Hour).Sub(now), time.Second),
			Message: fmt.Sprintf("The platform has sent %d %s like this one in this hour, which is its limit. Try again in the next hour, or "+
				"ask the operator of the service to raise the limit.", limit, sent),
		}
	}
	composed, err := compose(p, m)
	if err != nil {
		return err
	}
	composed.ID, composed.To = q.IDs.New(now), to
	if composed.FromAddress == "" {
		composed.FromAddress = q.From
	}
	return tx.AddMail(ctx, ports.QueuedMail{Mail: composed, Platform: p.ID, Kind: m.kind, Topic: m.topic, CreatedAt: now,
		ExpiresAt: now.Add(m.lifetime)})
}
