package documentfiles_test

import (
	"bytes"
	"compress/zlib"
	"encoding/ascii85"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/go-pdf/fpdf"

	"causeway/core/document"
)

// pdfFile returns a PDF file as programs make it, with a photo.
func pdfFile(t testing.TB) []byte {
	t.Helper()
	pdf := fpdf.New("P", "mm", "A4", "")
	pdf.AddPage()
	pdf.SetFont("Helvetica", "", 12)
	pdf.Cell(40, 10, "Electricity bill, (not a /JavaScriptX)")
	pdf.RegisterImageOptionsReader("photo", fpdf.ImageOptions{ImageType: "JPG"}, bytes.NewReader(jpegFile(t)))
	pdf.ImageOptions("photo", 10, 30, 50, 0, false, fpdf.ImageOptions{ImageType: "JPG"}, 0, "")
	var out bytes.Buffer
	if err := pdf.Output(&out); err != nil {
		t.Fatal(err)
	}
	return bytes.TrimRight(out.Bytes(), "\n")
}

// simplePDF returns a PDF file with an object.
func simplePDF(object string) []byte {
	return []byte("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n" + object + "\nendobj\nxref\n0 2\n0000000000 65535 f \n0000000015 00000 n " +
		"\ntrailer\n<< /Size 2 /Root 1 0 R >>\nstartxref\n99\n%%EOF")
}

// stream returns the object of a stream.
func stream(dictionary string, data []byte) string {
	return fmt.Sprintf("<< /Length %d %s >>\nstream\r\n%s\nendstream", len(data), dictionary, data)
}

func packed(t *testing.T, content string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zlib.NewWriter(&out)
	if _, err := w.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func in85(data []byte) []byte {
	out := make([]byte, ascii85.MaxEncodedLen(len(data)))
	return append(out[:ascii85.Encode(out, data)], "~>"...)
}

func TestCheck_PDF(t *testing.T) {
	t.Parallel()
	// A PDF file that only shows pages is kept up to its end mark. One that can do more is refused, also
	// if it hides that with escapes, or in streams that are packed in any usual way.
	script := "7 0 << /S /JavaScript /JS (app.alert(1)) >>"
	for name, c := range map[string]struct {
		file []byte
		want string // of the problem
	}{
		"made by a program":          {pdfFile(t), ""},
		"with a line end":            {append(pdfFile(t), "\r\n"...), ""},
		"and ZIP":                    {append(pdfFile(t), "PK\x03\x04 SECRET"...), ""},
		"a page":                     {simplePDF(stream("/Filter /FlateDecode", packed(t, "BT (Bill) Tj ET"))), ""},
		"a name that begins alike":   {simplePDF("<< /JavaScriptFree /Launched /XFAx 1 >>"), ""},
		"a short name in other data": {simplePDF("<< /Type /XFA /Kind /XFA >>"), ""},
		"an object stream": {simplePDF(stream("/Type /ObjStm /N 1 /First 4 /Filter /FlateDecode",
			packed(t, "7 0 << /Type /Page >>"))), ""},
		"a script":              {simplePDF(script), "without scripts"},
		"a script with escapes": {simplePDF(strings.Replace(script, "/JavaScript", "/J#61va#53cript", 1)), "without scripts"},
		"a script in an object stream": {simplePDF(stream("/Type /ObjStm /N 1 /First 4 /Filter /FlateDecode", packed(t, script))),
			"without scripts"},
		"a script packed twice": {simplePDF(stream("/Filter [/FlateDecode /FlateDecode]", packed(t, string(packed(t, script))))),
			"without scripts"},
		"a script in base 85": {simplePDF(stream("/Filter [/ASCII85Decode /FlateDecode]", in85(packed(t, script)))), "without scripts"},
		"a script in base 16": {simplePDF(stream("/Filter [/ASCIIHexDecode /Fl]", []byte(hex.EncodeToString(packed(t, script))+">"))),
			"without scripts"},
		"a script in a page's stream": {simplePDF(stream("/Filter /FlateDecode", packed(t, script))), "without scripts"},
		"a script behind the window": {simplePDF(strings.Repeat("x", 1<<16) + stream("/Filter /FlateDecode", packed(t, script))),
			"without scripts"},
		"a script without an end": {simplePDF(stream("/Filter /FlateDecode", packed(t, script)[:40])), "without scripts"},
		"an odd object stream":    {simplePDF(stream("/N 1 /First 4 /Filter /LZWDecode", []byte("x"))), "packed in a usual way"},
		"a predicted object stream": {simplePDF(stream("/N 1 /First 4 /Filter /FlateDecode /DecodeParms << /Predictor 12 >>", packed(t, "x"))),
			"packed in a usual way"},
		"a program":                    {simplePDF("<< /S/Launch/F(cmd.exe) >>"), "start programs"},
		"an attachment":                {simplePDF("<< /Type /EmbeddedFile >>"), "attached files"},
		"an attachment without a type": {simplePDF("<< /EF << /F 4 0 R >> >>"), "attached files"},
		"an empty list of attachments": {simplePDF("<< /Names << /EmbeddedFiles << /Names [] >> >> >>"), ""},
		"a dynamic form":               {simplePDF("<< /AcroForm << /XFA [ (template) 5 0 R ] >> >>"), "dynamic form"},
		"encryption":                   {simplePDF("<< /Encrypt 5 0 R >>"), "without encryption"},
		"a media player":               {simplePDF("<< /Subtype /RichMedia >>"), "without media"},
		"a form that is sent":          {simplePDF("<< /S /SubmitForm >>"), "send data"},
		"a bomb":                       {simplePDF(stream("/Filter /FlateDecode", packed(t, strings.Repeat("0", 257<<20)))), "256 MiB"},
		"many streams":                 {simplePDF(strings.Repeat("stream\n", 20_001)), "fewer parts"},
		"no end mark":                  {bytes.ReplaceAll(pdfFile(t), []byte("%%EOF"), []byte("%%END")), "complete PDF"},
		"no table":                     {bytes.ReplaceAll(pdfFile(t), []byte("startxref"), []byte("startxxxx")), "complete PDF"},
		"an end mark that is far away": {append(pdfFile(t), bytes.Repeat([]byte(" "), 3000)...), "complete PDF"},
		"another version":              {append([]byte("%PDF-3.0"), pdfFile(t)[8:]...), "must be a PDF, JPEG or PNG file"},
	} {
		kept, contentType, problem := check(t, c.file)
		if c.want == "" {
			if end := bytes.LastIndex(c.file, []byte("%%EOF")) + 5; problem != "" || contentType != document.PDF ||
				!bytes.Equal(kept, c.file[:end]) {
				t.Errorf("%s: %s, %d bytes kept, %q", name, contentType, len(kept), problem)
			}
		} else if !strings.Contains(problem, c.want) {
			t.Errorf("%s: %q, want %q", name, problem, c.want)
		}
	}
}
