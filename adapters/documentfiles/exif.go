package documentfiles

import "encoding/binary"

// orientationTag says how an image is turned (TIFF 6.0): 1 to 8, 1 is upright.
const orientationTag = 0x0112

// orientation returns the orientation that Exif data have, or 0.
func orientation(tiff []byte) byte {
	if len(tiff) < 8 {
		return 0
	}
	var order binary.ByteOrder = binary.BigEndian
	switch string(tiff[:4]) {
	case "II*\x00":
		order = binary.LittleEndian
	case "MM\x00*":
	default:
		return 0
	}
	at := uint64(order.Uint32(tiff[4:]))
	if at+2 > uint64(len(tiff)) {
		return 0
	}
	count := order.Uint16(tiff[at:])
	for i := range uint64(count) {
		entry := at + 2 + 12*i
		if entry+12 > uint64(len(tiff)) {
			return 0
		}
		// One value of the type SHORT.
		if b := tiff[entry:]; order.Uint16(b) == orientationTag && order.Uint16(b[2:]) == 3 && order.Uint32(b[4:]) == 1 {
			if value := order.Uint16(b[8:]); value >= 1 && value <= 8 {
				return byte(value)
			}
		}
	}
	return 0
}

// orientationTIFF returns Exif data with an orientation and nothing else.
func orientationTIFF(value byte) []byte {
	return []byte{'M', 'M', 0, '*', 0, 0, 0, 8, 0, 1,
		orientationTag >> 8, orientationTag & 0xff, 0, 3, 0, 0, 0, 1, 0, value, 0, 0,
		0, 0, 0, 0}
}
