package audit

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
func VerifyExport(ctx context.Context, export io.Reader, v VerifyOptions) (Report, error) {
	lines := bufio.NewReaderSize(export, 64<<10)
	header, platform, err := readHeader(lines)
	if err != nil {
		return Report{}, err
	}
	heads := platformCheckpoints(v.Published, platform)
	if len(heads) == 0 {
		return Report{}, fmt.Errorf("none of the heads is of %s, whose log this is", header.Origin)
	}
	report := &Report{}
	for _, rule := range [...]RuleReport{
		{Rule: RuleSequence, Unit: "postings"}, {Rule: RuleRecordedTime, Unit: "postings"}, {Rule: RuleWellFormed, Unit: "postings"},
		{Rule: RuleExport, Unit: "exports"}, {Rule: RulePublishedCheckpoints, Unit: "heads"},
	} {
		report.addRule(rule.Rule, rule.Unit)
	}
	check := &postingCheck{report: report, totals: totals{}, platform: ports.AuditPlatform{Platform: platform, HasClock: true}}
	check.log = newLogCheck(report, check.platform, v.Keys)
	check.log.addPublished(heads)
	end, err := readPostings(ctx, lines, check)
	if err != nil {
		return Report{}, err
	}
	check.platform.Seq, check.platform.Recorded = end.Size, check.lastRecorded
	if err := check.finish(ctx); err != nil {
		return Report{}, err
	}
	return *report, check.log.checkExportRoot(end)
}

// checkExportRoot holds the end of an export against what came before.
func (c *logCheck) checkExportRoot(end logTrailer) error {
	c.report.countChecked(RuleExport)
	if c.firstMissing > 0 {
		return nil
	}
	root, err := c.tree.Root()
	if err == nil && !bytes.Equal(root[:], end.Root) {
		c.report.addFinding(RuleExport, "the root in its last line is not the one of its postings: the file was changed after it was written")
	}
	return err
}

func readHeader(lines *bufio.Reader) (header logHeader, platform ident.Platform, err error) {
	line, err := readLine(lines)
	if err == nil {
		err = decodeStrict(line, &header)
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
func readPostings(ctx context.Context, lines *bufio.Reader, check *postingCheck) (end logTrailer, err error) {
	for number := 2; ; number++ {
		line, err := readLine(lines)
		if errors.Is(err, io.EOF) {
			return end, fmt.Errorf("the export is cut off after line %d, number %d", number-1, check.lastSeq)
		}
		if err != nil {
			return end, fmt.Errorf("line %d of the export: %w", number, err)
		}
		if bytes.HasPrefix(line, []byte(`{"end":`)) {
			if err := decodeStrict(line, &end); err != nil || !end.End {
				return end, fmt.Errorf("line %d of the export is no end", number)
			}
			if _, err := readLine(lines); !errors.Is(err, io.EOF) {
				return end, fmt.Errorf("the export goes on after its end in line %d", number)
			}
			return end, nil
		}
		var posting logLine
		if err := decodeStrict(line, &posting); err != nil {
			return end, fmt.Errorf("line %d of the export is no posting: %w", number, err)
		}
		a, err := posting.toAuditPosting(check.platform.Platform)
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

// maxLineBytes is far longer than a posting with all the entries it may have.
const maxLineBytes = 1 << 20

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
		case len(line) > maxLineBytes:
			return nil, errors.New("it is too long")
		}
	}
}

// decodeStrict reads one JSON object with known fields alone.
func decodeStrict(line []byte, into any) error {
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
