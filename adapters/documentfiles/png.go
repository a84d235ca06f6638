package documentfiles

import (
	"bufio"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
)

const pngSignature = "\x89PNG\r\n\x1a\n"

// keptChunks are the chunks that are needed to show an image as it is meant, with the maximum length
// of their data. IHDR and IDAT are checked by themselves.
var keptChunks = map[string]uint32{
	"PLTE": 768, "tRNS": 256, "gAMA": 4, "cHRM": 32, "sRGB": 1, "sBIT": 4, "bKGD": 6, "pHYs": 9, "IEND": 0,
}

// maxUnpacked is the maximum size of the pixels of an image: as many as an image may have, with
// 4 bytes each.
const maxUnpacked = 4 * maxPixels

// checkPNG returns the parts of a file that are needed to show its image. The pixels are unpacked
// once, row by row, to see whether they are whole.
func checkPNG(s *source) ([]part, error) {
	p := &pngFile{cursor: newCursor(s), parts: []part{{from: 0, to: int64(len(pngSignature))}}}
	if err := p.skip(len(pngSignature)); err != nil {
		return nil, err
	}
	for {
		header, err := p.next(8)
		if err != nil {
			return nil, err
		}
		length, kind := binary.BigEndian.Uint32(header), string(header[4:])
		if (kind == "IHDR") != (p.unpacked == 0) || length > 1<<31-1 {
			return nil, errDamaged
		}
		p.left, p.sum = length, crc32.ChecksumIEEE([]byte(kind))
		most, kept := keptChunks[kind]
		switch {
		case kind == "IHDR":
			kept, err = true, p.imageHeader()
		case kind == "IDAT" && p.ended:
			return nil, errDamaged
		case kind == "IDAT":
			if err := p.imageData(); err != nil {
				return nil, err
			}
			continue
		case kept && length > most:
			return nil, errDamaged
		case kind == "eXIf" && length <= 4096:
			err = p.exif()
		case kind[0] >= 'A' && kind[0] <= 'Z' && !kept: // must be understood to show the image
			return nil, errDamaged
		}
		if err != nil {
			return nil, err
		}
		from := p.at - 8 - int64(length-p.left)
		if err := p.endChunk(); err != nil {
			return nil, err
		}
		if kept {
			p.parts = keep(p.parts, from, p.at)
		}
		if kind == "IEND" {
			if !p.ended {
				return nil, errDamaged
			}
			return p.parts, nil
		}
		if len(p.parts) > maxParts {
			return nil, errDamaged
		}
	}
}

type pngFile struct {
	*cursor
	parts    []part
	unpacked int64 // size of the pixels with the filter of each row; zero before the header
	ended    bool  // the pixels were read
	oriented bool

	// Of the present chunk.
	left uint32 // unread bytes
	sum  uint32
}

// data returns the next n bytes of the data of the chunk.
func (p *pngFile) data(n uint32) ([]byte, error) {
	if n > p.left {
		return nil, errDamaged
	}
	b, err := p.next(int(n))
	p.left -= n
	p.sum = crc32.Update(p.sum, crc32.IEEETable, b)
	return b, err
}

// endChunk reads the rest of the chunk and its checksum.
func (p *pngFile) endChunk() error {
	for p.left > 0 {
		if _, err := p.data(min(p.left, 16<<10)); err != nil {
			return err
		}
	}
	sum, err := p.next(4)
	if err != nil || binary.BigEndian.Uint32(sum) != p.sum {
		return errDamaged
	}
	return nil
}

// channels are the samples of a pixel, by color type.
var channels = map[byte]int64{0: 1, 2: 3, 3: 1, 4: 2, 6: 4}

// imageHeader checks IHDR.
func (p *pngFile) imageHeader() error {
	b, err := p.data(p.left)
	if err != nil || len(b) != 13 {
		return errDamaged
	}
	width, height, depth, color := int64(binary.BigEndian.Uint32(b)), int64(binary.BigEndian.Uint32(b[4:])), int64(b[8]), b[9]
	samples, known := channels[color]
	validDepth := depth == 8 || depth == 16 && color != 3 || (depth == 1 || depth == 2 || depth == 4) && (color == 0 || color == 3)
	if !known || !validDepth || b[10] != 0 || b[11] != 0 || b[12] > 1 {
		return errDamaged
	}
	if err := checkDimensions(width, height); err != nil {
		return err
	}
	rows := func(width, height int64) int64 {
		if width == 0 {
			return 0
		}
		return height * (1 + (width*samples*depth+7)/8)
	}
	p.unpacked = rows(width, height)
	if b[12] == 1 { // Adam7: seven images of every few pixels
		p.unpacked = 0
		for _, pass := range [7][4]int64{{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}} {
			p.unpacked += rows((width-pass[0]+pass[2]-1)/pass[2], (height-pass[1]+pass[3]-1)/pass[3])
		}
	}
	if p.unpacked > maxUnpacked+maxSide {
		return refuse("must have at most %d MB of pixels: save this image with 8 bits a color, or fewer pixels", maxUnpacked/1_000_000)
	}
	return nil
}

// exif keeps the orientation.
func (p *pngFile) exif() error {
	b, err := p.data(p.left)
	if err != nil {
		return err
	}
	if o := orientation(b); o > 1 && !p.oriented {
		p.oriented = true
		tiff := orientationTIFF(o)
		chunk := append(binary.BigEndian.AppendUint32(nil, uint32(len(tiff))), "eXIf"...)
		chunk = append(chunk, tiff...)
		p.parts = append(p.parts, part{literal: binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(chunk[4:]))})
	}
	return nil
}

// imageData reads all IDAT chunks, the header of the first of which was read.
func (p *pngFile) imageData() error {
	p.ended = true
	d := &pngData{pngFile: p, from: p.at - 8}
	packed := bufio.NewReader(d)
	pixels, err := zlib.NewReader(packed)
	if err != nil {
		return errDamaged
	}
	n, err := io.Copy(io.Discard, io.LimitReader(pixels, p.unpacked+1))
	if err != nil || n != p.unpacked || packed.Buffered() > 0 {
		return errDamaged
	}
	return d.finish()
}

// pngData reads the data of consecutive IDAT chunks.
type pngData struct {
	*pngFile
	from int64 // position of the chunk
	done bool
}

// Read implements io.Reader.
func (d *pngData) Read(b []byte) (int, error) {
	for d.left == 0 {
		if d.done {
			return 0, io.EOF
		}
		if err := d.nextChunk(); err != nil {
			return 0, err
		}
	}
	data, err := d.data(min(d.left, uint32(min(len(b), 16<<10))))
	return copy(b, data), err
}

// nextChunk ends a chunk and begins the next one if it is of the same kind.
func (d *pngData) nextChunk() error {
	if err := d.endChunk(); err != nil {
		return err
	}
	d.parts = keep(d.parts, d.from, d.at)
	header, err := d.Peek(8)
	if err != nil {
		return errDamaged
	}
	if string(header[4:]) != "IDAT" {
		d.done = true
		return nil
	}
	d.from, d.left, d.sum = d.at, binary.BigEndian.Uint32(header), crc32.ChecksumIEEE([]byte("IDAT"))
	return d.skip(8)
}

// finish checks that nothing is behind the pixels.
func (d *pngData) finish() error {
	for !d.done {
		if d.left > 0 {
			return errDamaged
		}
		if err := d.nextChunk(); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
	}
	return nil
}
