#include "zoo.h"

#include <string.h>

/* The counts follow from the layer sizes; tests/unit/models contain the calculation. */
const struct zoo_model zoo_models[] = {
    {"resnet18", "ResNet-18", "batch=1", 1814073344, zoo_resnet18, true},
    {"resnet50", "ResNet-50 v1.5", "batch=1", 4089184256, zoo_resnet50, true},
    {"mobilenetv2", "MobileNetV2 1.0", "batch=1", 300774272, zoo_mobilenetv2, true},
    {"vgg16", "VGG-16", "batch=1", 15470264320, zoo_vgg16, false},
    {"vit_b_16", "ViT-B/16", "batch=1", 17563828224, zoo_vit_b_16, false},
    {"bert_base", "BERT-base with pooler", "batch=1,sequence=128", 11174215680, zoo_bert_base, false},
    {"gpt2", "GPT-2 124M, all logits", "batch=1,sequence=128", 16114089984, zoo_gpt2, false},
    /* text, speech, recurrent layers: tests/unit/models/test_zoo_sequences.c */
    {"distilbert", "DistilBERT-base", "batch=1,sequence=128", 5586812928, zoo_distilbert, false},
    {"whisper_tiny_encoder", "Whisper tiny, encoder", "batch=1", 18468864000, zoo_whisper_encoder, false},
    {"t5_encoder", "T5-small, encoder", "batch=1,sequence=128", 2516582400, zoo_t5_encoder, false},
    {"t5_decoder", "T5-small, decoder", "batch=1,decoder_sequence=64,encoder_sequence=128", 2940207104,
     zoo_t5_decoder, false},
    {"crnn", "CRNN, text lines", "batch=1,width=100", 705143808, zoo_crnn, false},
    {"deepspeech2_lstm", "Deep Speech 2, LSTM 1024", "batch=1,frames=200", 9714236800, zoo_deepspeech_lstm,
     false},
    {"deepspeech2_gru", "Deep Speech 2, GRU 800", "batch=1,frames=200", 5174809600, zoo_deepspeech_gru,
     false},
    {"keyword_gru", "Keyword spotting, GRU", "batch=1", 4095616, zoo_keyword, false},
    /* quantized: tests/unit/models/test_zoo_quant.c */
    {"resnet18_qdq", "ResNet-18, QDQ", "batch=1", 1814073344, zoo_resnet18_qdq, true},
    {"resnet50_qdq", "ResNet-50 v1.5, QDQ", "batch=1", 4089184256, zoo_resnet50_qdq, true},
    {"resnet18_dynamic", "ResNet-18, dynamically quantized", "batch=1", 1814073344, zoo_resnet18_dynamic,
     true},
    {"mobilenetv2_dynamic", "MobileNetV2, dynamically quantized", "batch=1", 300774272,
     zoo_mobilenetv2_dynamic, true},
    {"mobilenetv2_qoperator", "MobileNetV2, QOperator", "batch=1", 300774272, zoo_mobilenetv2_qoperator,
     true},

    /* images: tests/unit/models/test_image_models.c */
    {"squeezenet1_1", "SqueezeNet 1.1", "batch=1", 349151936, zoo_squeezenet1_1, true},
    {"shufflenetv2", "ShuffleNetV2 1.0x", "batch=1", 144907992, zoo_shufflenetv2, true},
    {"densenet121", "DenseNet-121", "batch=1", 2834161664, zoo_densenet121, true},
    {"efficientnet_b0", "EfficientNet-B0", "batch=1", 385814752, zoo_efficientnet_b0, true},
    {"mobilenetv3", "MobileNetV3-Large", "batch=1", 216589760, zoo_mobilenetv3, true},
    {"convnext_tiny", "ConvNeXt-T", "batch=1", 4455531264, zoo_convnext_tiny, true},
    {"mixer_b_16", "MLP-Mixer B/16", "batch=1", 12601767936, zoo_mixer_b_16, false},
    {"yolov8n", "YOLOv8n at 640x640", "batch=1", 4371993600, zoo_yolov8n, false},
    {"unet", "U-Net at 256x256", "batch=1", 12071206912, zoo_unet, false},
    {"espcn", "Sub-pixel CNN, x3", "batch=1", 2984869888, zoo_espcn, true},
    {"edsr", "EDSR baseline, x2", "batch=1", 22489546752, zoo_edsr, true},
};
const size_t zoo_model_count = OC_COUNT(zoo_models);

const struct zoo_model *zoo_find(const char *name)
{
    for (size_t i = 0; i < zoo_model_count; i++)
        if (!strcmp(zoo_models[i].name, name))
            return &zoo_models[i];
    return NULL;
}
