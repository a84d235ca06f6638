package ports

import (
	"context"

	"github.com/google/uuid"
)

// Mailer sends e-mail.
type Mailer interface {
	// Send hands a mail to the mail server. A mail that was sent before, by its id, may be sent again. An
	// error of the type *MessageRefusedError is final; after any other, Send can be tried again.
	Send(ctx context.Context, m Mail) error
}

// Mail is an e-mail in plain text and HTML.
type Mail struct {
	// ID becomes the Message-ID, so that a mail that is sent twice is one in most mailboxes.
	ID uuid.UUID
	// FromAddress and ReplyTo are addresses without a name. ReplyTo may be empty.
	FromAddress, FromName, ReplyTo string
	To                             string
	Subject                        string
	Text, HTML                     string
}

// MessageRefusedError means that the mail server or the provider of text messages will not take a message.
type MessageRefusedError struct{ Reason string }

func (e *MessageRefusedError) Error() string { return "the message was refused: " + e.Reason }
