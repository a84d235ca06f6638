package ports

import (
	"context"
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/platform"
)

// SMSSender sends text messages to mobile phones.
type SMSSender interface {
	// Send gives a text message to the provider. One that was sent before, by its id, may be sent again. An
	// error of the type *MessageRefusedError is final; after any other, Send can be tried again.
	Send(ctx context.Context, m SMS) error
}

// SMS is a text message.
type SMS struct {
	// ID is the same when a message is sent again, so that the provider can leave it out.
	ID       uuid.UUID
	Platform ident.Platform
	// To is a phone number in the form of E.164, such as +447700900123.
	To string
	// Sender is the name of the app. A provider may show it as the sender where the network allows that.
	Sender string
	Text   string
	// ExpiresAt is when it is of no use any more.
	ExpiresAt time.Time
}

// SMSSendersByEnvironment holds the senders of the environments. Platforms of an environment without one
// send no text messages.
type SMSSendersByEnvironment map[platform.Environment]SMSSender
