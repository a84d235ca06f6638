package books

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"causeway/core/ident"
	"causeway/ledger"
	"causeway/ports"
)

// VerifyExport holds an export of a log against heads of it, without any database. A
// file that is no whole export is an error; what does not fit is in the report.
func VerifyExport(ctx context.Context, export io.Reader, v Verification) (Report, error) {
	lines := bufio.NewReaderSize(export, 64<<10)
	header, platform, err := readHeader(lines)
	if err != nil {
		return Report{}, err
	}
	heads := headsOf(v.Published, platform)
	if len(heads) == 0 {
		return Report{}, fmt.Errorf("none of the heads is of %s, whose log this is", header.Origin)
	}
	report := &Report{}
	for _, rule := range [...]RuleReport{
		{Rule: RuleNumbered, Unit: "postings"}, {Rule: RuleRecorded, Unit: "postings"}, {Rule: RuleWhole, Unit: "postings"},
		{Rule: RuleExport, Unit: "exports"}, {Rule: RulePublished, Unit: "heads"},
	} {
		report.add(rule.Rule, rule.Unit)
	}
	check := &postingCheck{report: report, totals: totals{}, platform: ports.AuditPlatform{Platform: platform, HasClock: true}}
	check.log = newLogCheck(report, check.platform, v.Keys)
	check.log.published(heads)
	end, err := readPostings(ctx, lines, check)
	if err != nil {
		return Report{}, err
	}
	check.platform.Seq, check.platform.Recorded = end.Size, check.recorded
	if err := check.end(ctx); err != nil {
		return Report{}, err
	}
	return *report, check.log.ended(end)
}

// ended holds the end of an export against what came before.
func (c *logCheck) ended(end logEnd) error {
	c.report.checked(RuleExport)
	if c.lost > 0 {
		return nil
	}
	root, err := c.tree.Root()
	if err == nil && !bytes.Equal(root[:], end.Root) {
		c.report.broken(RuleExport, "the root in its last line is not the one of its postings: the file was changed after it was written")
	}
	return err
}

func readHeader(lines *bufio.Reader) (header logHeader, platform ident.Platform, err error) {
	line, err := readLine(lines)
	if err == nil {
		err = strictly(line, &header)
	}
	if err != nil || header.Format != LogFormat {
		return header, platform, fmt.Errorf("this is no export of a log: its first line does not say %q", LogFormat)
	}
	if platform, err = ident.ParsePlatform(header.Platform); err != nil || header.Origin != ledger.LogOrigin(platform) {
		return header, platform, errors.New("this is no export of a log: its first line names no platform with its log")
	}
	return header, platform, nil
}

// readPostings hands every posting to the check, up to the end.
func readPostings(ctx context.Context, lines *bufio.Reader, check *postingCheck) (end logEnd, err error) {
	for number := 2; ; number++ {
		line, err := readLine(lines)
		if errors.Is(err, io.EOF) {
			return end, fmt.Errorf("the export is cut off after line %d, number %d", number-1, check.last)
		}
		if err != nil {
			return end, fmt.Errorf("line %d of the export: %w", number, err)
		}
		if bytes.HasPrefix(line, []byte(`{"end":`)) {
			if err := strictly(line, &end); err != nil || !end.End {
				return end, fmt.Errorf("line %d of the export is no end", number)
			}
			if _, err := readLine(lines); !errors.Is(err, io.EOF) {
				return end, fmt.Errorf("the export goes on after its end in line %d", number)
			}
			return end, nil
		}
		var posting logLine
		if err := strictly(line, &posting); err != nil {
			return end, fmt.Errorf("line %d of the export is no posting: %w", number, err)
		}
		a, err := posting.posting(check.platform.Platform)
		if err != nil {
			return end, fmt.Errorf("line %d of the export, number %d: %w", number, posting.Seq, err)
		}
		if err := check.check(ctx, a); err != nil {
			return end, err
		}
		if number%1024 == 0 && ctx.Err() != nil {
			return end, ctx.Err()
		}
	}
}

// longestLine is far longer than a posting with all the entries it may have.
const longestLine = 1 << 20

// readLine reads a whole line; io.EOF also when the last one is cut off.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case err == nil:
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		case len(line) > longestLine:
			return nil, errors.New("it is too long")
		}
	}
}

// strictly reads one JSON object with known fields alone.
func strictly(line []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the object")
	}
	return nil
}
