package documentfiles_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"causeway/adapters/documentfiles"
	"causeway/core/document"
)

// picture is a photo of a few colors, of a size that is no multiple of a block.
func picture(width, height int) image.Image {
	m := image.NewNRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			m.Set(x, y, color.NRGBA{uint8(x * 3), uint8(y * 5), uint8(x * y), 255})
		}
	}
	return m
}

func jpegFile(t testing.TB) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := jpeg.Encode(&out, picture(67, 43), nil); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func pngFile(t testing.TB) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := png.Encode(&out, picture(67, 43)); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// check checks a file, and returns what is kept of it.
func check(t testing.TB, file []byte) (kept []byte, contentType document.ContentType, problem string) {
	t.Helper()
	checked, problem, err := documentfiles.New(1).Check(t.Context(), bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	if problem != "" {
		return nil, "", problem
	}
	kept, err = io.ReadAll(checked.Open())
	if err != nil || int64(len(kept)) != checked.Size {
		t.Fatalf("read %d bytes of %d, %v", len(kept), checked.Size, err)
	}
	return kept, checked.ContentType, ""
}

// samePixels reports whether two files show the same.
func samePixels(t *testing.T, one, other []byte) bool {
	t.Helper()
	a, _, err := image.Decode(bytes.NewReader(one))
	if err != nil {
		t.Fatal(err)
	}
	b, _, err := image.Decode(bytes.NewReader(other))
	if err != nil {
		t.Fatal(err)
	}
	for y := range a.Bounds().Dy() {
		for x := range a.Bounds().Dx() {
			if a.At(x, y) != b.At(x, y) {
				return false
			}
		}
	}
	return a.Bounds() == b.Bounds()
}

// exif returns Exif data with a place and an orientation.
func exif(order binary.AppendByteOrder, orientation uint16) []byte {
	tiff := []byte("II*\x00")
	if order.String() == binary.BigEndian.String() {
		tiff = []byte("MM\x00*")
	}
	tiff = order.AppendUint32(tiff, 8)
	tiff = order.AppendUint16(tiff, 2)
	entry := func(tag, kind uint16, count uint32) {
		tiff = order.AppendUint32(order.AppendUint16(order.AppendUint16(tiff, tag), kind), count)
	}
	entry(0x010f, 2, 40)
	tiff = order.AppendUint32(tiff, 38)
	entry(0x0112, 3, 1)
	tiff = order.AppendUint16(order.AppendUint16(tiff, orientation), 0)
	tiff = order.AppendUint32(tiff, 0)
	return append(tiff, "GPS 51.5007N 0.1246W SECRET SECRET SECRET"...)
}

// segment returns a segment of JPEG.
func segment(marker byte, data []byte) []byte {
	return append(binary.BigEndian.AppendUint16([]byte{0xff, marker}, uint16(len(data)+2)), data...)
}

// chunk returns a chunk of PNG.
func chunk(kind string, data []byte) []byte {
	out := append(binary.BigEndian.AppendUint32(nil, uint32(len(data))), kind...)
	out = append(out, data...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[4:]))
}

// insert returns a file with data at a position.
func insert(file []byte, at int, data ...[]byte) []byte {
	return bytes.Join([][]byte{file[:at], bytes.Join(data, nil), file[at:]}, nil)
}

// afterIHDR is the position of the second chunk of a PNG file.
const afterIHDR = 8 + 25

func TestCheck_ImageKeepsPixelsOnly(t *testing.T) {
	t.Parallel()
	// Of an image the pixels and the orientation are kept. Metadata, a second image, and whatever is
	// behind the end are not.
	photo, shot := jpegFile(t), pngFile(t)
	metadata := [][]byte{
		segment(0xe0, []byte("JFIF\x00\x01\x02\x01\x00\x48\x00\x48\x01\x01SEC")), segment(0xe0, []byte("JFXX SECRET")),
		segment(0xe1, append([]byte("Exif\x00\x00"), exif(binary.LittleEndian, 6)...)),
		segment(0xe1, []byte("http://ns.adobe.com/xap/1.0/\x00SECRET")),
		segment(0xe2, []byte("MPF\x00SECRET")), segment(0xee, []byte("AdobeSECRET no transform")), segment(0xfe, []byte("SECRET")),
	}
	for name, c := range map[string]struct {
		file, plain []byte
		orientation string // the bytes that say it
	}{
		"a JPEG file":               {photo, photo, ""},
		"a JPEG file with metadata": {insert(photo, 2, metadata...), photo, "\x01\x12\x00\x03\x00\x00\x00\x01\x00\x06"},
		"an upright JPEG file":      {insert(photo, 2, segment(0xe1, append([]byte("Exif\x00\x00"), exif(binary.BigEndian, 1)...))), photo, ""},
		"JPEG and ZIP":              {append(bytes.Clone(photo), "PK\x03\x04 SECRET"...), photo, ""},
		"JPEG and JPEG":             {append(bytes.Clone(photo), insert(photo, 2, segment(0xfe, []byte("SECRET")))...), photo, ""},
		"a PNG file":                {shot, shot, ""},
		"a PNG file with metadata": {insert(shot, afterIHDR, chunk("tEXt", []byte("Comment\x00SECRET")), chunk("eXIf", exif(binary.BigEndian, 8)),
			chunk("iTXt", []byte("SECRET")), chunk("prVt", []byte("SECRET")), chunk("gAMA", []byte{0, 0, 0xb1, 0x8f})), shot,
			"\x01\x12\x00\x03\x00\x00\x00\x01\x00\x08"},
		"PNG and HTML": {append(bytes.Clone(shot), "<script>SECRET</script>"...), shot, ""},
	} {
		kept, contentType, problem := check(t, c.file)
		if want := map[bool]document.ContentType{true: document.JPEG, false: document.PNG}[c.file[0] == 0xff]; problem != "" ||
			contentType != want {
			t.Errorf("%s: %s, %q", name, contentType, problem)
			continue
		}
		if bytes.Contains(kept, []byte("SEC")) {
			t.Errorf("%s: the secret is kept", name)
		}
		if !samePixels(t, kept, c.plain) {
			t.Errorf("%s: shows something else", name)
		}
		if c.orientation == "" && !bytes.Equal(kept, c.plain) || !bytes.Contains(kept, []byte(c.orientation)) {
			t.Errorf("%s: kept %x", name, kept[:100])
		}
		if again, _, _ := check(t, kept); !bytes.Equal(again, kept) {
			t.Errorf("%s: the result changes when it is checked again", name)
		}
	}
}

func TestCheck_ProgressiveAndInterlaced(t *testing.T) {
	t.Parallel()
	// All usual variants of the formats are accepted as they are.
	for _, m := range []image.Image{image.NewGray(image.Rect(0, 0, 5, 9)), image.NewRGBA64(image.Rect(0, 0, 9, 5)),
		image.NewPaletted(image.Rect(0, 0, 33, 3), color.Palette{color.Black, color.White}), image.NewNRGBA(image.Rect(0, 0, 1, 1))} {
		var file bytes.Buffer
		if err := png.Encode(&file, m); err != nil {
			t.Fatal(err)
		}
		if kept, _, problem := check(t, file.Bytes()); !bytes.Equal(kept, file.Bytes()) {
			t.Errorf("%T: %s", m, problem)
		}
	}
	for name, file := range map[string][]byte{"interlaced PNG": interlaced(t), "progressive JPEG": progressive(t)} {
		kept, _, problem := check(t, file)
		if !bytes.Equal(kept, file) {
			t.Errorf("%s: %s", name, problem)
		}
		if _, _, err := image.Decode(bytes.NewReader(file)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCheck_IncompleteIsRefused(t *testing.T) {
	t.Parallel()
	// A file that is cut off anywhere is refused, and one whose bytes changed is at least not an error
	// of the service.
	for name, file := range map[string][]byte{"JPEG": jpegFile(t), "PNG": pngFile(t), "PDF": pdfFile(t)} {
		for n := range len(file) - 1 {
			if _, _, problem := check(t, file[:n]); problem == "" {
				t.Fatalf("%s: the first %d of %d bytes are accepted", name, n, len(file))
			}
		}
		random := rand.New(rand.NewPCG(3, 4))
		for range 2000 {
			changed := bytes.Clone(file)
			for range 1 + random.IntN(3) {
				changed[random.IntN(len(changed))] = byte(random.IntN(256))
			}
			if kept, _, problem := check(t, changed); problem == "" && name == "PNG" && !samePixels(t, kept, file) {
				t.Fatalf("%s: a changed file is accepted", name)
			}
		}
	}
}

func TestCheck_RefusedFiles(t *testing.T) {
	t.Parallel()
	// The problem names what the file must be. Large images are refused by their header.
	photo, shot := jpegFile(t), pngFile(t)
	wide := func(file []byte, at int, width, height uint32, bytesPerSide int) []byte {
		file = bytes.Clone(file)
		for i, side := range []uint32{width, height} {
			b := binary.BigEndian.AppendUint32(nil, side)
			copy(file[at+i*bytesPerSide:], b[4-bytesPerSide:])
		}
		return file
	}
	frame := bytes.Index(photo, []byte{0xff, 0xc0}) + 5
	bomb := wide(shot, 16, 8000, 8001, 4)
	binary.BigEndian.PutUint32(bomb[29:], crc32.ChecksumIEEE(bomb[12:29]))
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"nothing":                   {nil, "not an empty file"},
		"a text":                    {[]byte("this is my passport"), "must be a PDF, JPEG or PNG file"},
		"a photo of an iPhone":      {[]byte("\x00\x00\x00\x24ftypheic\x00\x00\x00\x00mif1"), "not HEIC"},
		"HTML that looks like PDF":  {[]byte("<html>%PDF-1.4"), "must be a PDF"},
		"a wide JPEG file":          {wide(photo, frame, 20_001, 10, 2), "at most 64 million pixels, and 20000 on a side"},
		"a large JPEG file":         {wide(photo, frame, 9000, 9000, 2), "at most 64 million pixels"},
		"a large PNG file":          {bomb, "at most 64 million pixels"},
		"a lossless JPEG file":      {bytes.Replace(photo, []byte{0xff, 0xc0}, []byte{0xff, 0xc3}, 1), "usual JPEG"},
		"bytes behind the pixels":   {insert(shot, len(shot)-12, chunk("IDAT", []byte("SECRET"))), "complete PNG"},
		"an unknown critical chunk": {insert(shot, afterIHDR, chunk("SECR", []byte("ET"))), "complete PNG"},
		"a wrong checksum": {bytes.Replace(insert(shot, afterIHDR, chunk("tEXt", []byte("one"))), []byte("one"), []byte("two"), 1),
			"complete PNG"},
	} {
		if _, _, problem := check(t, c.file); !strings.Contains(problem, c.want) || !strings.HasPrefix(problem, "must ") {
			t.Errorf("%s: %q, want %q", name, problem, c.want)
		}
	}
}

func TestCheck_BombIsNotUnpacked(t *testing.T) {
	t.Parallel()
	// An image whose packed pixels are more than its header says is refused after as many bytes as
	// that, and one that claims the maximum takes no memory for it.
	shot := pngFile(t)
	small := bytes.Clone(shot)
	binary.BigEndian.PutUint32(small[16:], 3)
	binary.BigEndian.PutUint32(small[29:], crc32.ChecksumIEEE(small[12:29]))
	large := bytes.Clone(shot)
	binary.BigEndian.PutUint32(large[16:], 8000)
	binary.BigEndian.PutUint32(large[20:], 7900)
	binary.BigEndian.PutUint32(large[29:], crc32.ChecksumIEEE(large[12:29]))
	for name, file := range map[string][]byte{"more pixels": small, "fewer pixels": large} {
		if _, _, problem := check(t, file); !strings.Contains(problem, "complete PNG") {
			t.Errorf("%s: %q", name, problem)
		}
	}
}

// failingFile fails to be read behind a position.
type failingFile struct {
	*bytes.Reader
	from int64
	err  error
}

func (f failingFile) ReadAt(p []byte, offset int64) (int, error) {
	if offset+int64(len(p)) > f.from {
		return 0, f.err
	}
	return f.Reader.ReadAt(p, offset)
}

func TestCheck_FailureIsNoProblemOfTheFile(t *testing.T) {
	t.Parallel()
	// A file that cannot be read, and a check that is cancelled, are errors.
	broken := errors.New("disk failed")
	for name, file := range map[string][]byte{"JPEG": jpegFile(t), "PNG": pngFile(t), "PDF": pdfFile(t)} {
		_, problem, err := documentfiles.New(1).Check(t.Context(), failingFile{bytes.NewReader(file), 12, broken}, int64(len(file)))
		if !errors.Is(err, broken) {
			t.Errorf("%s: %q, %v", name, problem, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, problem, err := documentfiles.New(1).Check(ctx, bytes.NewReader(file), int64(len(file))); !errors.Is(err, context.Canceled) {
			t.Errorf("%s, cancelled: %q, %v", name, problem, err)
		}
	}
}

func FuzzCheck(f *testing.F) {
	// No file makes the check fail or panic. What is kept of an accepted one is accepted and kept
	// whole.
	f.Add(jpegFile(f))
	f.Add(pngFile(f))
	f.Add(pdfFile(f))
	f.Add(progressive(f))
	f.Add(interlaced(f))
	f.Fuzz(func(t *testing.T, file []byte) {
		kept, contentType, problem := check(t, file)
		if problem != "" {
			return
		}
		if again, same, problem := check(t, kept); !bytes.Equal(again, kept) || same != contentType {
			t.Errorf("checked again: %q, %d of %d bytes are kept", problem, len(again), len(kept))
		}
	})
}

// progressive returns a progressive JPEG file, of one gray block.
func progressive(t testing.TB) []byte {
	t.Helper()
	gray := image.NewGray(image.Rect(0, 0, 8, 8))
	for i := range gray.Pix {
		gray.Pix[i] = 128
	}
	var out bytes.Buffer
	if err := jpeg.Encode(&out, gray, nil); err != nil {
		t.Fatal(err)
	}
	file := bytes.Replace(out.Bytes(), []byte{0xff, 0xc0}, []byte{0xff, 0xc2}, 1)
	scan := bytes.Index(file, []byte{0xff, 0xda, 0, 8})
	file[scan+8] = 0 // the scan has the mean of the block only
	return append(file[:scan+10], 0x3f, 0xff, 0xd9)
}

// interlaced returns an interlaced PNG file of 13 × 11 black pixels.
func interlaced(t testing.TB) []byte {
	t.Helper()
	var packed bytes.Buffer
	pixels := zlib.NewWriter(&packed)
	for _, pass := range [][4]int{{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}} {
		for y := pass[1]; y < 11; y += pass[3] {
			row := []byte{0}
			for x := pass[0]; x < 13; x += pass[2] {
				row = append(row, 0)
			}
			if _, err := pixels.Write(row); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := pixels.Close(); err != nil {
		t.Fatal(err)
	}
	data := packed.Bytes()
	return bytes.Join([][]byte{[]byte("\x89PNG\r\n\x1a\n"), chunk("IHDR", []byte{0, 0, 0, 13, 0, 0, 0, 11, 8, 0, 0, 0, 1}),
		chunk("IDAT", data[:3]), chunk("IDAT", nil), chunk("IDAT", data[3:]), chunk("IEND", nil)}, nil)
}
