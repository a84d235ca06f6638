package mails

import (
	"context"
	"time"

	"causeway/core/ident"
	"causeway/ports"
)

// Tx adds mails to the queue.
type Tx interface {
	// AddMail stores a mail or a text message, and the job that sends it. Those about its topic that wait are ended.
	AddMail(ctx context.Context, m ports.QueuedMail) error
	// CountMail counts one mail more of a platform in an hour, and returns how many codes those are, or how
	// many notices or text messages if it is one. The counts are locked until the unit of work ends.
	CountMail(ctx context.Context, p ident.Platform, kind ports.MailKind, hour time.Time) (int, error)
}
