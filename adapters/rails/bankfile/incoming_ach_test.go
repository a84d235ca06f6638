package bankfile_test

import (
	"bytes"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/moov-io/ach"

	"causeway/core/bankorder"
	"causeway/core/corridor"
	"causeway/core/rail"
	"causeway/ports"
)

// returnFile is a file of a bank with entries, each about a payment of ours by its key.
func returnFile(t testing.TB, entries ...*ach.EntryDetail) string {
	t.Helper()
	file := ach.NewFile()
	header := ach.NewFileHeader()
	header.ImmediateDestination, header.ImmediateOrigin, header.FileCreationDate, header.FileCreationTime, header.FileIDModifier = "121042882",
		"021000021", "260312", "0815", "A"
	file.SetHeader(header)
	for n, e := range entries {
		h := ach.NewBatchHeader()
		h.ServiceClassCode, h.CompanyName, h.CompanyIdentification, h.StandardEntryClassCode = ach.MixedDebitsAndCredits, "CAUSEWAY",
			"1234567890", ach.PPD
		h.CompanyEntryDescription, h.ODFIIdentification, h.SettlementDate = "PAYMENT", "02100002", "071"
		if e.Category == ach.CategoryNOC {
			h.StandardEntryClassCode = ach.COR
		}
		batch, err := ach.NewBatch(h)
		if err != nil {
			t.Fatal(err)
		}
		e.TraceNumber = fmt.Sprintf("0210000%08d", n+1)
		batch.AddEntry(e)
		if err := batch.Create(); err != nil {
			t.Fatal(err)
		}
		file.AddBatch(batch)
	}
	if err := file.Create(); err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := ach.NewWriter(&text).Write(file); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

func achEntry(code, cents int, key string) *ach.EntryDetail {
	d := ach.NewEntryDetail()
	d.TransactionCode, d.Amount, d.DFIAccountNumber, d.IndividualName, d.IdentificationNumber = code, cents, "123456789", "ANA SILVA", key
	d.SetRDFI("121042882")
	d.AddendaRecordIndicator = 1
	return d
}

func achReturn(code, cents int, key, reason string) *ach.EntryDetail {
	d := achEntry(code, cents, key)
	d.Category = ach.CategoryReturn
	d.Addenda99 = ach.NewAddenda99()
	d.Addenda99.ReturnCode, d.Addenda99.OriginalTrace, d.Addenda99.OriginalDFI, d.Addenda99.TraceNumber = reason, "121042880000001",
		"02100002", "021000020000001"
	return d
}

func achChange(key, code, data string) *ach.EntryDetail {
	d := achEntry(21, 0, key)
	d.Category = ach.CategoryNOC
	d.Addenda98 = ach.NewAddenda98()
	d.Addenda98.ChangeCode, d.Addenda98.OriginalTrace, d.Addenda98.OriginalDFI, d.Addenda98.CorrectedData, d.Addenda98.TraceNumber = code,
		"121042880000001", "02100002", data, "021000020000001"
	return d
}

func TestIncoming_ACHReturnsAndChanges(t *testing.T) {
	t.Parallel()
	// A return says that a payout or collection came back, before it has settled and after; a notification of change leaves
	// it as it is and is kept with what it corrects. One without our key is shown with the trace number.
	d := openDatabase(t)
	i := &inbox{database: d, bank: newBank(t), t: t}
	i.connection = america("bank-usd", i.dir)
	i.a = d.open(t, i.connection, d.Store, folderTransport(t, i.dir))
	i.send(4)
	collections := []ports.Collection{d.collection("bank-usd collection", 0)}
	if outcomes := i.a.Collect(t.Context(), collections); !waiting(outcomes) {
		t.Fatalf("%+v", outcomes)
	}
	d.clock.Advance(24 * time.Hour)
	i.poll()
	key := func(n int) string { return rail.ShortID(i.id(n)) }
	pulled := rail.EndToEndID(collections[0].Transaction.ID.UUID())
	i.put("1.ach", returnFile(t, achReturn(21, 10_00, key(0), "R03"), achReturn(26, 20_00, rail.ShortID(pulled), "R01"),
		achChange(key(1), "C01", "987654321"), achReturn(21, 10_02, "", "R02"), achReturn(21, 1, "UNKNOWN", "R02")))
	i.poll()

	if got := i.states(); got != "RETURNED R03, IN_FILE, IN_FILE, IN_FILE" {
		t.Fatal(got)
	}
	if outcome := i.a.Send(t.Context(), i.payouts)[0]; outcome.Verdict != ports.Refused || outcome.Code != "R03" {
		t.Errorf("%+v", outcome)
	}
	if outcome := i.a.Collect(t.Context(), collections)[0]; outcome.Verdict != ports.Refused || outcome.Code != "R01" {
		t.Errorf("%+v", outcome)
	}
	notices, err := d.Notices(t.Context(), "bank-usd", 10)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[bankorder.NoticeKind]string{}
	for _, n := range notices {
		kinds[n.Kind] += n.Name + " " + n.Code + ";"
		if n.Kind == bankorder.Correction && !maps.Equal(n.Correction, map[string]string{"data": "987654321", "accountNumber": "987654321"}) {
			t.Errorf("%v", n.Correction)
		}
	}
	unknown := kinds[bankorder.UnknownPayment]
	if len(notices) != 3 || kinds[bankorder.Correction] != key(1)+" C01;" || unknown != "UNKNOWN R02;121042880000001 R02;" &&
		unknown != "121042880000001 R02;UNKNOWN R02;" {
		t.Errorf("%v", kinds)
	}
	// After days without a return they have settled, and one that comes later returns the money.
	d.clock.Advance(10 * 24 * time.Hour)
	i.put("2.ach", returnFile(t, achReturn(21, 10_02, key(2), "R04")))
	i.poll()
	d.clock.Advance(time.Minute)
	i.poll()
	outcomes := i.a.Status(t.Context(), i.payouts)
	if got := i.states(); got != "RETURNED R03, SETTLED, RETURNED R04, SETTLED" && got != "RETURNED R03, SETTLED C01, RETURNED R04, SETTLED" {
		t.Error(got)
	}
	if outcomes[1].Verdict != ports.Done || outcomes[3].Verdict != ports.Done {
		t.Errorf("%+v", outcomes)
	}
	if i.connection.Rails[0] != corridor.ACH || i.left("in") != "" {
		t.Error(i.left("in"))
	}
}
