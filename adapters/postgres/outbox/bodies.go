package outbox

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"causeway/ports"
)

// A stored body is a JSON object, or a sealed value, which begins with a version below any
// printable character.
const firstPrintable = ' '

// SealBody returns the body of an event as it is stored. Without a cipher, or without a data key, it
// is stored as it is.
func SealBody(ctx context.Context, cipher ports.Cipher, platform, event uuid.UUID, body []byte) ([]byte, error) {
	if cipher == nil || len(body) == 0 {
		return body, nil
	}
	sealed, err := cipher.Seal(ctx, body, bodyContext(platform, event))
	if err != nil || sealed == nil {
		return body, err
	}
	return sealed, nil
}

// openBody returns the body that SealBody was given.
func openBody(ctx context.Context, cipher ports.Cipher, platform, event uuid.UUID, stored []byte) ([]byte, error) {
	if len(stored) == 0 || stored[0] >= firstPrintable {
		return stored, nil
	}
	if cipher == nil {
		return nil, fmt.Errorf("the body of webhook %s is encrypted, and there is no master key", event)
	}
	body, err := cipher.Open(ctx, stored, bodyContext(platform, event))
	if err != nil {
		return nil, fmt.Errorf("the body of webhook %s: %w", event, err)
	}
	return body, nil
}

func bodyContext(platform, event uuid.UUID) []byte {
	return append(append([]byte("webhook_events.body\x00"), platform[:]...), event[:]...)
}

// openBodies opens the bodies of events to be sent. One that cannot be opened delays no other event.
func (s *session) openBodies(ctx context.Context, due []ports.DueWebhooks) {
	for i := range due {
		for _, events := range [][]ports.QueuedWebhook{due[i].Fresh, due[i].Retries} {
			for j := range events {
				e := &events[j]
				e.Body, e.BodyError = openBody(ctx, s.cipher, e.Platform.UUID(), e.ID.UUID(), e.Body)
			}
		}
	}
}
