package payments

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/app/internal/uow"
	"causeway/core/rail"
	"causeway/ports"
	"causeway/ports/portstest"
)

func TestFeedItems_EachVersionOfContentIsRead(t *testing.T) {
	t.Parallel()
	// The content of what was kept aside is read by every later version of the service, however long it was kept.
	for _, content := range []struct {
		name string
		portstest.Document
	}{
		{"receipt", contentOf[ports.RailReceipt]()},
		{"reversal", contentOf[ports.ReceiptReversal]()},
		{"fee", contentOf[ports.RailFee]()},
		{"fee", contentOf[rail.Fee]()}, // that could not be posted
		{"statement", contentOf[ports.RailStatement]()},
		{"raw", contentOf[ports.RawReport]()},
		{"contradiction", portstest.Document{
			Encode: func() (string, error) {
				var c rail.Contradiction
				portstest.Fill(&c, "contradiction")
				item, err := uow.ContradictionItem(uuid.UUID{}, "bank", c, time.Time{})
				return string(item.Content), err
			},
			Recode: func(text string) (string, error) { return text, nil }}}, // shown to people alone
	} {
		t.Run(content.name, func(t *testing.T) {
			t.Parallel()
			portstest.CheckDocument(t, filepath.Join("testdata", "feed_items"), content.name, content.Document)
		})
	}
}

// contentOf is the content of items with a T.
func contentOf[T any]() portstest.Document {
	keep := func(reported T) (string, error) {
		p := new(piece)
		if err := p.failed(time.Time{}, ports.RailFeedItem{}, reported, rejected{errors.New("refused")}); err != nil {
			return "", err
		}
		return string(p.aside[0].Content), nil
	}
	return portstest.Document{
		Encode: func() (string, error) {
			var reported T
			portstest.Fill(&reported, "reported")
			return keep(reported)
		},
		Recode: func(text string) (string, error) {
			read, err := one[T]([]byte(text))
			if err != nil {
				return "", err
			}
			return keep(read[0])
		},
	}
}
