package feedcontent

import (
	"encoding/json"
	"reflect"
	"testing"

	"causeway/core/account"
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
		{"receipt", contentOf(Receipt)},
		{"reversal", contentOf(Reversal)},
		{"fee", contentOf(Fee)},
		{"fee", contentOf(func(content []byte) (rail.Fee, error) { // that could not be posted
			read, err := Fee(content)
			return rail.Fee(read), err
		})},
		{"statement", contentOf(Statement)},
		{"raw", contentOf(decode[ports.RawReport])},
		{"contradiction", contentOf(Contradiction)},
	} {
		t.Run(content.name, func(t *testing.T) {
			t.Parallel()
			portstest.CheckDocument(t, "testdata", content.name, content.Document)
		})
	}
}

// contentOf is the content of items with a T.
func contentOf[T any](decode func([]byte) (T, error)) portstest.Document {
	return portstest.Document{
		Encode: func() (string, error) {
			var reported T
			portstest.Fill(&reported, "reported")
			text, err := Encode(reported)
			return string(text), err
		},
		Recode: func(text string) (string, error) {
			read, err := decode([]byte(text))
			if err != nil {
				return "", err
			}
			again, err := Encode(read)
			return string(again), err
		},
	}
}

func TestFeedItems_ContentIsReadByTheReleaseBefore(t *testing.T) {
	t.Parallel()
	// Two releases run side by side during an upgrade. The one that stored the fields of Go reads what is stored now, with all that
	// is kept of a payer.
	sameBefore(t, ports.RailReceipt{Payer: &account.External{}}, func(r *ports.RailReceipt) {
		p := r.Payer
		r.Payer = &account.External{Currency: p.Currency, Type: p.Type, Fields: p.Fields, Beneficiary: p.Beneficiary, Rails: p.Rails}
	})
	sameBefore(t, ports.ReceiptReversal{}, nil)
	sameBefore(t, ports.RailFee{}, nil)
	sameBefore(t, rail.Fee{}, nil)
	sameBefore(t, ports.RailStatement{}, nil)
	sameBefore(t, rail.Contradiction{}, nil)
}

// sameBefore checks that a value with everything set, after an edit, is read as it was by its fields of Go; and so is an empty one.
func sameBefore[T any](t *testing.T, empty T, edit func(*T)) {
	t.Helper()
	full := empty
	portstest.Fill(&full, "reported")
	if edit != nil {
		edit(&full)
	}
	for _, want := range []T{full, empty} {
		text, err := Encode(want)
		if err != nil {
			t.Fatal(err)
		}
		var got T
		if err := json.Unmarshal(text, &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s is read as %+v, %v", text, got, err)
		}
	}
}
