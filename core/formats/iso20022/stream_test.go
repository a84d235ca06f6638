package iso20022_test

import (
	"io"
	"strings"
	"testing"

	"causeway/core/formats/iso20022"
	"causeway/core/money"
)

// maxAhead is how many bytes a codec may keep, or read ahead.
const maxAhead = 256 << 10

func TestWrite_KeepsNothing(t *testing.T) {
	t.Parallel()
	// Transfers are written as they come, so that the size of a file does not matter.
	const count = 20_000
	var written counter
	block := newBlock(iso20022.SEPA, "EUR")
	block.Totals = &iso20022.Totals{Count: count, Sum: money.TotalOf(count)}
	block.Transfers = func(yield func(iso20022.Transfer, error) bool) {
		for i := range count {
			if int(written) < i*200-maxAhead {
				t.Errorf("%d bytes are written of %d transfers", written, i)
				return
			}
			if !yield(newTransfer(1, "EUR"), nil) {
				return
			}
		}
	}

	if _, err := iso20022.Write(&written, newInitiation(block)); err != nil || written < count*200 {
		t.Errorf("%d bytes: %v", written, err)
	}
}

func TestRead_KeepsNothing(t *testing.T) {
	t.Parallel()
	// Statuses and entries are passed on as they are read.
	const count = 20_000
	source := &counting{}
	visited := 0
	check := func() {
		if visited++; source.read > visited*1000+maxAhead {
			t.Fatalf("%d bytes are read for %d items", source.read, visited)
		}
	}
	source.Reader = io.MultiReader(strings.NewReader(statusStart+"<OrgnlPmtInfAndSts>"),
		strings.NewReader(strings.Repeat("<TxInfAndSts><OrgnlEndToEndId>A</OrgnlEndToEndId><TxSts>ACSC</TxSts></TxInfAndSts>", count)),
		strings.NewReader("</OrgnlPmtInfAndSts>"+statusEnd))
	if err := iso20022.ReadStatuses(source, func(iso20022.Status) error { check(); return nil }); err != nil || visited != count {
		t.Errorf("%d statuses: %v", visited, err)
	}
	source, visited = &counting{Reader: strings.NewReader(reportStart + strings.Repeat(newEntry(oneEuro, credit, ""), count) + reportEnd)}, 0
	if err := iso20022.ReadReports(source, iso20022.Visitor{Entry: func(iso20022.Report,
		iso20022.Entry) error {
		check()
		return nil
	}}); err != nil || visited != count {
		t.Errorf("%d entries: %v", visited, err)
	}
}

type counting struct {
	io.Reader
	read int
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.read += n
	return n, err
}
